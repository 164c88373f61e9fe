import {
  EdgeConflict,
  EdgeConnected,
  EdgeOffline,
  EdgeOnline,
  EdgePluginHealth,
  EdgeRemoved,
  EdgeUpgrade,
  EdgeWritten,
} from 'svc/contracts/edge';
import type { PluginHealth, UpgradeState } from 'svc/edge-protocol';
import type { PluginContext } from 'svc/sdk';

import type { EdgeRecord } from './record.ts';

type Bus = Pick<PluginContext['events'], 'emit'>;

/** Events about edges for other plugins, emitted after the fact. */
export class EdgeEvents {
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  online({ id, agentVersion }: EdgeRecord, first: boolean): void {
    this.#bus.emit(EdgeOnline, { edge_id: id, agent_version: agentVersion ?? '', first });
  }

  connected({ id }: EdgeRecord): void {
    this.#bus.emit(EdgeConnected, { edge_id: id });
  }

  offline({ id, lastSeenAt }: EdgeRecord): void {
    this.#bus.emit(EdgeOffline, { edge_id: id, last_seen_at: lastSeenAt ?? 0 });
  }

  conflict({ id, conflict }: EdgeRecord): void {
    this.#bus.emit(EdgeConflict, {
      edge_id: id,
      since: conflict?.since ?? null,
      machine_uuids: conflict?.machines ?? [],
    });
  }

  pluginHealth(edgeId: number, name: string, health: PluginHealth): void {
    this.#bus.emit(EdgePluginHealth, { edge_id: edgeId, name, health });
  }

  upgrade(edgeId: number, jobId: string, state: UpgradeState, error: string | null): void {
    this.#bus.emit(EdgeUpgrade, { edge_id: edgeId, job_id: jobId, state, error });
  }

  written(edgeId: number): void {
    this.#bus.emit(EdgeWritten, { edge_id: edgeId });
  }

  removed(edgeId: number): void {
    this.#bus.emit(EdgeRemoved, { edge_id: edgeId });
  }
}
