import type { PluginContext } from 'svc/sdk';

import {
  EdgeConflict,
  EdgeOffline,
  EdgeOnline,
  EdgePluginHealth,
  EdgeRemoved,
  EdgeUpgrade,
  EdgeWritten,
  type PluginHealth,
  type UpgradeState,
} from './contract.ts';
import type { EdgeRecord } from './record.ts';

/** Tells the house, after the fact. */
export interface Telling {
  online(record: EdgeRecord, first: boolean): void;
  offline(record: EdgeRecord): void;
  conflict(record: EdgeRecord): void;
  health(edgeId: number, name: string, health: PluginHealth): void;
  upgrade(edgeId: number, jobId: string, state: UpgradeState, error: string | null): void;
  written(edgeId: number): void;
  removed(edgeId: number): void;
}

export const createTelling = ({ emit }: PluginContext['events']): Telling => ({
  online: ({ id, agentVersion }, first) => emit(EdgeOnline, { edge_id: id, agent_version: agentVersion ?? '', first }),
  offline: ({ id, lastSeenAt }) => emit(EdgeOffline, { edge_id: id, last_seen_at: lastSeenAt ?? 0 }),
  conflict: ({ id, conflict }) => emit(EdgeConflict, { edge_id: id, since: conflict?.since ?? null, machine_uuids: conflict?.machines ?? [] }),
  health: (edgeId, name, health) => emit(EdgePluginHealth, { edge_id: edgeId, name, health }),
  upgrade: (edgeId, jobId, state, error) => emit(EdgeUpgrade, { edge_id: edgeId, job_id: jobId, state, error }),
  written: (edgeId) => emit(EdgeWritten, { edge_id: edgeId }),
  removed: (edgeId) => emit(EdgeRemoved, { edge_id: edgeId }),
});
