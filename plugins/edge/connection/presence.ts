import type { Clock, Tables } from 'svc/sdk';
import { closeCode, type SessionEnd, type Sweeper } from 'svc/tunnel';

import { edgeStore } from '../edge-store.ts';
import type { EdgeRecord } from '../record.ts';
import type { Roll } from '../edge-table.ts';
import type { EdgeTables } from '../tables.ts';
import type { Telling } from '../events.ts';
import type { Tunnel } from './tunnel.ts';

/** Who is connected: in memory, written down in batches. */
export interface Presence {
  /** Ids of the edges whose tunnel is up at this moment. */
  readonly up: ReadonlySet<number>;
  /** This tunnel serves from now on; returns the one that did until now. */
  connected(record: EdgeRecord, tunnel: Tunnel, agentVersion: string): Tunnel | undefined;
  closed(record: EdgeRecord, tunnel: Tunnel, end: SessionEnd): void;
  /** It is not to be heard of again. */
  removed(record: EdgeRecord): void;
  seenAt(record: EdgeRecord): number | null;
  /** Whether it is not known yet if this edge survived a restart of the manager. */
  isAwaited(record: EdgeRecord): boolean;
  /** After the start: whoever was online before has `graceMs` to come back unnoticed. */
  await(graceMs: number): void;
  flush(): Promise<void>;
}

export interface PresenceParts {
  readonly roll: Roll;
  readonly tables: Tables<EdgeTables>;
  readonly sweeper: Sweeper;
  readonly clock: Clock;
  readonly telling: Telling;
}

/** A tunnel that comes back so soon was never away. */
export const hysteresisMs = 10_000;

export function createPresence({ roll, tables, sweeper, clock, telling }: PresenceParts): Presence {
  const up = new Set<number>();
  /** Changed in more than when they were seen last. */
  const changed = new Set<EdgeRecord>();
  let awaiting = true;
  /** Whoever was online before the start and is not back. */
  const missing = new Set<EdgeRecord>();

  const heardAt = ({ session }: Tunnel): number => clock.now() - Math.max(0, Math.round(clock.monotonic() - session.stats.lastHeardAt));
  const seenAt = (record: EdgeRecord): number | null => (record.tunnel ? heardAt(record.tunnel) : record.lastSeenAt);

  function offline(record: EdgeRecord): void {
    if (record.online && record.tunnel === undefined && roll.byId(record.id) === record) {
      record.online = false;
      changed.add(record);
      telling.offline(record);
    }
  }

  return {
    up,
    seenAt,
    isAwaited: (record) => awaiting && record.online && record.tunnel === undefined,

    connected(record, tunnel, agentVersion) {
      const older = record.tunnel;
      const first = record.lastRegisteredAt === null;
      record.stayOnline?.();
      record.stayOnline = undefined;
      missing.delete(record);
      record.tunnel = tunnel;
      record.machine = tunnel.machine;
      record.bootId = tunnel.bootId;
      record.agentVersion = agentVersion;
      record.lastSeenAt = clock.now();
      record.lastRegisteredAt = clock.now();
      up.add(record.id);
      changed.add(record);
      if (!record.online) {
        record.online = true;
        telling.online(record, first);
      }
      return older;
    },

    closed(record, tunnel, end) {
      if (record.tunnel !== tunnel) {
        return;
      }
      record.lastSeenAt = heardAt(tunnel);
      record.tunnel = undefined;
      up.delete(record.id);
      changed.add(record);
      if (awaiting && missing.size > 0) {
        // In the rush of a fleet that returns some lose their connection again: that says nothing about their machines.
        missing.add(record);
        return;
      }
      // A silent one has been away for three pings already.
      if (end.code === closeCode.silent) {
        offline(record);
      } else {
        record.stayOnline = sweeper.after(hysteresisMs, () => offline(record));
      }
    },

    removed(record) {
      record.stayOnline?.();
      record.tunnel = undefined;
      up.delete(record.id);
      changed.delete(record);
      missing.delete(record);
    },

    await(graceMs) {
      [...roll.all()].filter(({ online, tunnel }) => online && tunnel === undefined).forEach((record) => missing.add(record));
      sweeper.after(graceMs, () => {
        awaiting = false;
        missing.clear();
        [...roll.all()].forEach(offline);
      });
    },

    async flush() {
      const news = [...changed].filter(({ lastRegisteredAt }) => lastRegisteredAt !== null);
      const seen = [...up].flatMap((id) => {
        const record = roll.byId(id);
        return record?.tunnel && !changed.has(record) ? [[id, heardAt(record.tunnel)] as const] : [];
      });
      if (news.length + seen.length === 0) {
        return;
      }
      changed.clear();
      try {
        await tables.write(async (tx) => {
          await edgeStore(tx).putPresence(news.map((record) => rowOf(record, seenAt(record)!)));
          await edgeStore(tx).putSeen(seen);
        });
      } catch (error) {
        news.forEach((record) => changed.add(record));
        throw error;
      }
    },
  };
}

const rowOf = (record: EdgeRecord, seenAt: number) => ({
  edge_id: record.id,
  online: record.online ? 1 : 0,
  last_seen_at: seenAt,
  last_registered_at: record.lastRegisteredAt!,
  agent_version: record.agentVersion ?? '',
  machine_uuid: record.machine ?? '',
});
