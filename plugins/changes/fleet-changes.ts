import type { ChangeDraft } from 'svc/contracts/changes';
import { type EdgeFleet, EdgePluginHealth, EdgeUpgrade } from 'svc/contracts/edge';
import { type Handle, type PluginContext } from 'svc/sdk';

import type { Feed } from './feed.ts';

const ends = new Set(['succeeded', 'failed', 'rolled_back']);

/** Writes down what edges tell of: upgrades that have ended, and plugins of agents that crashed. */
export function followFleet(
  { events, clock }: Pick<PluginContext, 'events' | 'clock'>,
  feed: Feed,
  fleet: Handle<EdgeFleet>,
): void {
  const placeOf = (
    edgeId: number,
  ): { readonly name: string } & Pick<ChangeDraft, 'edge_id' | 'device_id'> => {
    const entry = fleet.available ? fleet.get().get(edgeId) : undefined;
    const device = entry?.device_id ?? undefined;
    return {
      name: entry?.name ?? `edge ${edgeId}`,
      edge_id: String(edgeId),
      ...(device !== undefined && { device_id: String(device) }),
    };
  };
  events.on(EdgeUpgrade, async ({ edge_id: id, job_id: job, state, error }) => {
    if (ends.has(state)) {
      const { name, ...place } = placeOf(id);
      const ended =
        state === 'succeeded'
          ? 'succeeded'
          : `${state.replace('_', ' ')}${error === null ? '' : `: ${error}`}`;
      await feed.note({
        ...place,
        ref: `upgrade:${job}:${state}`,
        at: clock.now(),
        kind: 'upgrade',
        source: 'edge',
        summary: `upgrade of agent ${name} ${ended}`,
      });
    }
  });
  events.on(EdgePluginHealth, async ({ edge_id: id, name: plugin, health }) => {
    if (health.state === 'crashed') {
      const { name, ...place } = placeOf(id);
      const cause =
        health.last_error === null || health.last_error === undefined
          ? ''
          : `: ${health.last_error}`;
      const at = clock.now();
      const ref = `crash:${id}:${plugin}:${health.restart_count ?? 0}:${Math.round(at)}`;
      await feed.note({
        ...place,
        ref,
        at,
        kind: 'restart',
        source: 'edge',
        summary: `plugin ${plugin} on agent ${name} crashed${cause}`,
      });
    }
  });
}
