import type { Clock, Tables } from 'svc/sdk';
import { closeCode, type SessionEnd, type Sweeper } from 'svc/tunnel';

import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeEvents } from '../record/events.ts';
import { presenceStore } from '../record/presence-store.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { EdgeTables } from '../record/tables.ts';
import type { Tunnel } from '../record/tunnel.ts';
import { Comings } from './comings.ts';

export interface PresenceParts {
  readonly edgeTable: Pick<EdgeTable, 'byId' | 'all'>;
  readonly tables: Pick<Tables<EdgeTables>, 'write'>;
  readonly sweeper: Sweeper;
  readonly clock: Clock;
  readonly events: Pick<EdgeEvents, 'connected' | 'online' | 'offline'>;
}

/** Time within which a returning tunnel counts as never lost. */
export const hysteresisMs = 10_000;

/** Presence of edges: in memory, stored in batches. */
export class Presence {
  readonly #parts: PresenceParts;
  readonly #up = new Set<number>();
  /** Changed in more than when they were seen last. */
  readonly #changed = new Set<EdgeRecord>();
  /** Online before the start, and not back yet. */
  readonly #missing = new Set<EdgeRecord>();
  #awaiting = true;
  readonly comings: Comings;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.comings = new Comings(parts.clock);
  }

  /** Ids of the edges whose tunnel is up at this moment. */
  get up(): ReadonlySet<number> {
    return this.#up;
  }

  seenAt(record: EdgeRecord): number | null {
    return record.tunnel ? this.#heardAt(record.tunnel) : record.lastSeenAt;
  }

  /** Returns whether it is unknown yet if this edge survived a restart of the manager. */
  isAwaited(record: EdgeRecord): boolean {
    return this.#awaiting && record.online && record.tunnel === undefined;
  }

  /** Makes this tunnel the serving one; returns the previous one. */
  connected(record: EdgeRecord, tunnel: Tunnel, agentVersion: string): Tunnel | undefined {
    const { clock, events } = this.#parts;
    const older = record.tunnel;
    const first = record.lastRegisteredAt === null;
    record.cancelOffline?.();
    record.cancelOffline = undefined;
    this.#missing.delete(record);
    if (record.lastRegisteredAt !== null) {
      this.comings.came(record.id, clock.now() - record.lastRegisteredAt);
    }
    record.tunnel = tunnel;
    record.machine = tunnel.machine;
    record.bootId = tunnel.bootId;
    record.agentVersion = agentVersion;
    record.lastSeenAt = clock.now();
    record.lastRegisteredAt = clock.now();
    this.#up.add(record.id);
    this.#changed.add(record);
    if (!record.online) {
      record.online = true;
      events.online(record, first);
    }
    events.connected(record);
    return older;
  }

  closed(record: EdgeRecord, tunnel: Tunnel, end: SessionEnd): void {
    if (record.tunnel !== tunnel) {
      return;
    }
    record.lastSeenAt = this.#heardAt(tunnel);
    record.tunnel = undefined;
    this.#up.delete(record.id);
    this.#changed.add(record);
    if (this.#awaiting && this.#missing.size > 0) {
      // When a fleet reconnects some lose their connection again: that says nothing about their
      // machines.
      this.#missing.add(record);
      return;
    }
    // A silent one has been away for three pings already.
    if (end.code === closeCode.silent) {
      this.#setOffline(record);
    } else {
      record.cancelOffline = this.#parts.sweeper.after(hysteresisMs, () =>
        this.#setOffline(record),
      );
    }
  }

  /** Drops an edge that was deleted. */
  removed(record: EdgeRecord): void {
    record.cancelOffline?.();
    record.tunnel = undefined;
    this.#up.delete(record.id);
    this.#changed.delete(record);
    this.#missing.delete(record);
    this.comings.forget(record.id);
  }

  /** Gives every edge that was online before the start `graceMs` to come back unnoticed. */
  awaitReturn(graceMs: number): void {
    const { edgeTable, sweeper } = this.#parts;
    [...edgeTable.all()]
      .filter(({ online, tunnel }) => online && tunnel === undefined)
      .forEach((record) => this.#missing.add(record));
    sweeper.after(graceMs, () => {
      this.#awaiting = false;
      this.#missing.clear();
      [...edgeTable.all()].forEach((record) => this.#setOffline(record));
    });
  }

  /** Stores what has changed, and the last contacts. */
  async flush(): Promise<void> {
    const news = [...this.#changed].filter(({ lastRegisteredAt }) => lastRegisteredAt !== null);
    const seen = [...this.#up].flatMap((id) => {
      const record = this.#parts.edgeTable.byId(id);
      return record?.tunnel && !this.#changed.has(record)
        ? [[id, this.#heardAt(record.tunnel)] as const]
        : [];
    });
    if (news.length + seen.length === 0) {
      return;
    }
    this.#changed.clear();
    try {
      await this.#parts.tables.write(async (tx) => {
        await presenceStore(tx).put(news.map((record) => rowOf(record, this.seenAt(record)!)));
        await presenceStore(tx).putSeen(seen);
      });
    } catch (error) {
      news.forEach((record) => this.#changed.add(record));
      throw error;
    }
  }

  #heardAt({ session }: Tunnel): number {
    const { clock } = this.#parts;
    return clock.now() - Math.max(0, Math.round(clock.monotonic() - session.stats.lastHeardAt));
  }

  #setOffline(record: EdgeRecord): void {
    const { edgeTable, events } = this.#parts;
    if (record.online && record.tunnel === undefined && edgeTable.byId(record.id) === record) {
      record.online = false;
      this.#changed.add(record);
      events.offline(record);
    }
  }
}

const rowOf = (record: EdgeRecord, seenAt: number) => ({
  edge_id: record.id,
  online: record.online ? 1 : 0,
  last_seen_at: seenAt,
  last_registered_at: record.lastRegisteredAt!,
  agent_version: record.agentVersion ?? '',
  machine_uuid: record.machine ?? '',
});
