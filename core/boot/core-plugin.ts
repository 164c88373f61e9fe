import corePlugin from '../../config/core-plugin.json' with { type: 'json' };
import type { PluginHost } from '../host/index.ts';
import type { Readiness } from '../http/index.ts';
import type { HealthSummary } from '../observe/index.ts';
import { Draft, Generation, OwnedScope, type ScopeRunner } from '../registry/index.ts';
import {
  type PluginManifest,
  type PointDeclaration,
  type RouteDeclaration,
  sdkVersion,
  type ServiceToken,
} from '../sdk/index.ts';
import type { Storage } from '../storage/index.ts';
import { coreErrors } from './core-errors.ts';

/** One of core's own services, for plugins to require. */
interface CoreService {
  readonly id: string;
  readonly instance: object;
}

export const coreService = <T extends object>(
  token: ServiceToken<T>,
  instance: T,
): CoreService => ({ id: token.id, instance });

/** Returns core's own routes, services and points, published like any plugin's. */
export function coreDraft(
  services: readonly CoreService[],
  routes: ReadonlyMap<string, RouteDeclaration> = new Map(),
  points: readonly PointDeclaration[] = [],
): Draft {
  const draft = syntheticDraft('core', 'Core', 1, {
    'host:metrics': 'Read the metrics of svc itself.',
  });
  services.forEach(({ id, instance }) =>
    draft.add('services', id, { version: sdkVersion, instance }),
  );
  routes.forEach((declaration, key) => draft.add('routes', key, declaration));
  points.forEach((point) => draft.add('points', point.id, point));
  draft.addErrors(coreErrors);
  return draft.seal();
}

/** Runner for core's own timers: an error there is a bug of core, and is treated as one. */
const unguarded: ScopeRunner = {
  tick: async (_label, work) => await work(),
  task: (_label, work) => work(),
};

/** A draft for what belongs to core and not to a plugin. */
export function syntheticDraft(
  id: string,
  title: string,
  number: number,
  actions: PluginManifest['actions'] = {},
): Draft {
  const manifest = {
    ...(corePlugin as PluginManifest),
    id,
    version: sdkVersion,
    title,
    description: title,
    actions,
  };
  const generation = new Generation(manifest, number, new OwnedScope(`${id}#${number}`, unguarded));
  generation.committed = true;
  return new Draft(generation);
}

interface ReadinessParts {
  readonly host: PluginHost;
  readonly storage: Storage;
  readonly health: { ask(): Promise<HealthSummary> };
}

/**
 * Reports whether svc is ready. A plugin that is down is named with its state and degrades it; only
 * one that declares itself critical makes it unready.
 */
export async function readiness({
  host,
  storage,
  health,
}: ReadinessParts): Promise<readonly Readiness[]> {
  const down = host
    .list()
    .filter(
      ({ state }) => !['active', 'disabled', 'discovered', 'waiting', 'loading'].includes(state),
    );
  const { ok, checks } = await health.ask();
  const degraded = checks.some((check) => check.degraded);
  // Strangers may ask: a cause may name paths and quote files, and is for those who read plugins.
  const unwell = checks.filter((check) => !check.ok || check.degraded).map(({ label }) => label);
  const outOfService = down.map(({ id, state }) => `${id} (${state})`);
  return [
    { part: 'storage', ...storage.health() },
    { part: 'disk', ...storage.disk() },
    {
      part: 'plugins',
      ok: !down.some(({ critical }) => critical),
      ...(down.length > 0 && {
        degraded: true,
        detail: `out of service: ${outOfService.join('; ')}`,
      }),
    },
    {
      part: 'process',
      ok,
      ...(degraded && { degraded }),
      ...(unwell.length > 0 && { detail: unwell.join('; ') }),
    },
  ];
}
