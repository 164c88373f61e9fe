import { canonicalMetrics } from 'svc/probe';
import { type Call, SvcError } from 'svc/sdk';
import type { Static } from 'typebox';

import type { EdgeFleet, EdgeMethods, HostSnapshot } from './contract.ts';
import type { ProcessQuery, Snapshot } from './schema.ts';
import { toldShape } from './shape-check.ts';
import { HostSnapshot as HostSnapshotSchema, Processes } from './wire.ts';

/** What is asked of the machine at this moment. What it answers is an outsider's word. */
export interface LiveAnswers {
  processes(edgeId: number, query: Static<typeof ProcessQuery>, signal: AbortSignal): Promise<EdgeMethods['processes']['answer']>;
  snapshot(edgeId: number, signal: AbortSignal): Promise<Static<typeof Snapshot>>;
}

const askMs = 10_000;

export function createLiveAnswers(fleet: EdgeFleet): LiveAnswers {
  const isProcesses = toldShape<EdgeMethods['processes']['answer']>(Processes, { removeAdditional: 'all' });
  const isSnapshot = toldShape<HostSnapshot>(HostSnapshotSchema, { removeAdditional: 'all' });

  const ask = (edgeId: number, method: string, params: object, signal: Call['signal']): Promise<unknown> =>
    fleet.call(edgeId, method, params, { timeoutMs: askMs, signal });

  return {
    async processes(edgeId, { top = 50, sort_by: sortBy = 'cpu' }, signal) {
      const answer = await ask(edgeId, 'processes', { top, sort_by: sortBy }, signal);
      if (!isProcesses(answer)) {
        throw new SvcError('upstream_error', `edge ${edgeId} answered with something that is no list of processes`);
      }
      const { sampled_at: at, processes } = answer;
      return { sampled_at: at, processes: processes.slice(0, top) };
    },

    async snapshot(edgeId, signal) {
      const answer = await ask(edgeId, 'host_snapshot', {}, signal);
      if (!isSnapshot(answer)) {
        throw new SvcError('upstream_error', `edge ${edgeId} answered with something that is no snapshot of a host`);
      }
      const { sampled_at: at, metrics } = answer;
      const told = new Map(Object.entries(metrics));
      return {
        device_id: fleet.get(edgeId)?.device_id ?? null,
        sampled_at: at,
        metrics: Object.fromEntries(canonicalMetrics.map((name) => [name, told.get(name) ?? null])),
      };
    },
  };
}
