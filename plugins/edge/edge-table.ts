import type { Secrets, Tables } from 'svc/sdk';

import { edgeStore } from './edge-store.ts';
import { hostDigest } from './connection/host-digest.ts';
import { liveKey } from './connection/live-key.ts';
import { pluginStore } from './plugins/plugin-store.ts';
import type { EdgeRecord, Wish } from './record.ts';
import type { EdgeDb, EdgeRow, EdgeTables, KeyRow } from './tables.ts';

/** Every edge, in memory: what each push, handshake and call asks. The tables are behind it, not in front of it. */
export interface Roll {
  readonly size: number;
  byId(id: number): EdgeRecord | undefined;
  byAccessKey(accessKey: string): EdgeRecord | undefined;
  /** In the order of their ids. */
  all(): IterableIterator<EdgeRecord>;
  /** Brings memory in line with the tables; what is only in memory (tunnels, health) stays. */
  load(): Promise<void>;
  /** The same for one edge, after this generation changed it; the others are told. */
  reload(id: number): Promise<EdgeRecord | undefined>;
  /** The same, after anybody did. */
  follow(id: number): Promise<EdgeRecord | undefined>;
  drop(id: number): EdgeRecord | undefined;
}

export function createRoll({ read }: Tables<EdgeTables>, secrets: Pick<Secrets, 'open'>, written: (id: number) => void): Roll {
  const byId = new Map<number, EdgeRecord>();
  const byAccessKey = new Map<string, EdgeRecord>();
  /** Dropped since the last look at the tables began. */
  const gone = new Set<number>();
  let turn: Promise<unknown> = Promise.resolve();

  /** One look at the tables after the other: what a long one of all of them brings must not undo what was read of one edge since. */
  function inTurn<R>(look: () => Promise<R>): Promise<R> {
    const looked = turn.then(look);
    turn = looked.catch(() => undefined);
    return looked;
  }

  function put(row: EdgeRow, keys: readonly KeyRow[], wishes: Map<string, Wish> | undefined): EdgeRecord {
    const record = byId.get(row.id) ?? fresh(row);
    record.name = row.name;
    record.deviceId = row.device_id;
    record.conflict =
      row.conflict_since === null ? undefined : { since: row.conflict_since, machines: JSON.parse(row.conflict_machines ?? '[]') as readonly string[] };
    record.onlyMachine = row.only_machine;
    record.hostDigest = row.host_info === null ? undefined : hostDigest(row.host_info);
    record.keys = keys.map((key) => liveKey(key, secrets));
    record.wishes = wishes;
    byId.set(row.id, record);
    byAccessKey.set(row.access_key, record);
    return record;
  }

  function forget(id: number): EdgeRecord | undefined {
    gone.add(id);
    const record = byId.get(id);
    if (record) {
      byId.delete(id);
      byAccessKey.delete(record.accessKey);
    }
    return record;
  }

  async function follow(id: number): Promise<EdgeRecord | undefined> {
    gone.delete(id);
    const [row, keys, wishes] = await find(read, id);
    return row === undefined || gone.has(id) ? forget(id) && undefined : put(row, keys, wishesOf(wishes));
  }

  async function loadAll(): Promise<void> {
    gone.clear();
    const rows = await edgeStore(read).all();
    const keys = byEdge(await edgeStore(read).allKeys());
    const wishes = byEdge(await pluginStore(read).allWishes());
    for (const row of rows.filter(({ id }) => !gone.has(id))) {
      put(row, keys.get(row.id) ?? [], wishesOf(wishes.get(row.id) ?? []));
    }
    const there = new Set(rows.map(({ id }) => id));
    [...byId.keys()].filter((id) => !there.has(id)).forEach(forget);
    for (const presence of await edgeStore(read).allPresence()) {
      const record = byId.get(presence.edge_id);
      // What memory has seen itself is newer.
      if (record && record.lastRegisteredAt === null) {
        record.lastSeenAt = presence.last_seen_at;
        record.lastRegisteredAt = presence.last_registered_at;
        record.agentVersion = presence.agent_version;
        record.machine = presence.machine_uuid;
        record.online = presence.online === 1;
      }
    }
  }

  return {
    get size() {
      return byId.size;
    },
    byId: (id) => byId.get(id),
    byAccessKey: (accessKey) => byAccessKey.get(accessKey),
    all: () => byId.values(),
    drop(id) {
      written(id);
      return forget(id);
    },

    load: () => inTurn(loadAll),

    follow: (id) => inTurn(() => follow(id)),

    async reload(id) {
      const record = await inTurn(() => follow(id));
      written(id);
      return record;
    },
  };
}

const find = (db: EdgeDb, id: number) => Promise.all([edgeStore(db).find(id), edgeStore(db).keysOf(id), pluginStore(db).wishesOf(id)]);

function byEdge<R extends { readonly edge_id: number }>(rows: readonly R[]): ReadonlyMap<number, R[]> {
  const groups = new Map<number, R[]>();
  for (const row of rows) {
    const group = groups.get(row.edge_id);
    if (group) {
      group.push(row);
    } else {
      groups.set(row.edge_id, [row]);
    }
  }
  return groups;
}

const wishesOf = (rows: readonly { readonly name: string; readonly enabled: number; readonly spec: string }[]): Map<string, Wish> | undefined =>
  rows.length === 0 ? undefined : new Map(rows.map(({ name, enabled, spec }) => [name, { enabled: enabled === 1, spec }]));

/** Written out: an object that is put together of others takes three times the memory. */
const fresh = (row: EdgeRow): EdgeRecord => ({
  id: row.id,
  accessKey: row.access_key,
  name: row.name,
  deviceId: row.device_id,
  agentVersion: null,
  machine: null,
  bootId: null,
  lastSeenAt: null,
  lastRegisteredAt: null,
  online: false,
  stayOnline: undefined,
  conflict: undefined,
  onlyMachine: null,
  keys: [],
  wishes: undefined,
  health: undefined,
  buffer: undefined,
  hostDigest: undefined,
  tunnel: undefined,
});
