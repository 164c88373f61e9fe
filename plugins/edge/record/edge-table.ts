import type { Secrets, Tables } from 'svc/sdk';

import { edgeStore } from './edge-store.ts';
import type { EdgeEvents } from './events.ts';
import { keyStore } from './key-store.ts';
import { liveKey } from './live-key.ts';
import { pluginStore } from './plugin-store.ts';
import { presenceStore } from './presence-store.ts';
import { type EdgeRecord, hostDigest, type Wish } from './record.ts';
import type { EdgeDb, EdgeRow, EdgeTables, KeyRow } from './tables.ts';

export interface EdgeTableParts {
  readonly tables: Pick<Tables<EdgeTables>, 'read'>;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly events: Pick<EdgeEvents, 'written'>;
}

/** Every edge, in memory: what each push, handshake and call asks. The database is behind it, not in front of it. */
export class EdgeTable {
  readonly #read: EdgeDb;
  readonly #secrets: Pick<Secrets, 'open'>;
  readonly #events: Pick<EdgeEvents, 'written'>;
  readonly #byId = new Map<number, EdgeRecord>();
  readonly #byAccessKey = new Map<string, EdgeRecord>();
  /** Dropped since the last look at the database began. */
  readonly #dropped = new Set<number>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ tables, secrets, events }: EdgeTableParts) {
    this.#read = tables.read;
    this.#secrets = secrets;
    this.#events = events;
  }

  get size(): number {
    return this.#byId.size;
  }

  byId(id: number): EdgeRecord | undefined {
    return this.#byId.get(id);
  }

  byAccessKey(accessKey: string): EdgeRecord | undefined {
    return this.#byAccessKey.get(accessKey);
  }

  /** Returns the edges sorted by id. */
  all(): IterableIterator<EdgeRecord> {
    return this.#byId.values();
  }

  /** Aligns memory with the database; what is only in memory (tunnels, health) stays. */
  load(): Promise<void> {
    return this.#inTurn(() => this.#loadAll());
  }

  /** The same for one edge, after this generation changed it; the other generations hear of it. */
  async reload(id: number): Promise<EdgeRecord | undefined> {
    const record = await this.follow(id);
    this.#events.written(id);
    return record;
  }

  /** The same, after any generation did. */
  follow(id: number): Promise<EdgeRecord | undefined> {
    return this.#inTurn(() => this.#loadOne(id));
  }

  drop(id: number): EdgeRecord | undefined {
    this.#events.written(id);
    return this.#forget(id);
  }

  /**
   * Reads the database one at a time: the result of a long read of all edges must not undo a later
   * one of one edge.
   */
  #inTurn<R>(look: () => Promise<R>): Promise<R> {
    const looked = this.#turn.then(look);
    this.#turn = looked.catch(() => undefined);
    return looked;
  }

  async #loadOne(id: number): Promise<EdgeRecord | undefined> {
    this.#dropped.delete(id);
    const [row, keys, wishes] = await Promise.all([
      edgeStore(this.#read).find(id),
      keyStore(this.#read).of(id),
      pluginStore(this.#read).wishesOf(id),
    ]);
    return row === undefined || this.#dropped.has(id)
      ? this.#forget(id) && undefined
      : this.#put(row, keys, wishesOf(wishes));
  }

  async #loadAll(): Promise<void> {
    this.#dropped.clear();
    const rows = await edgeStore(this.#read).all();
    const keys = byEdge(await keyStore(this.#read).all());
    const wishes = byEdge(await pluginStore(this.#read).allWishes());
    for (const row of rows.filter(({ id }) => !this.#dropped.has(id))) {
      this.#put(row, keys.get(row.id) ?? [], wishesOf(wishes.get(row.id) ?? []));
    }
    const there = new Set(rows.map(({ id }) => id));
    [...this.#byId.keys()].filter((id) => !there.has(id)).forEach((id) => this.#forget(id));
    for (const presence of await presenceStore(this.#read).all()) {
      const record = this.#byId.get(presence.edge_id);
      // What this process has seen itself is newer.
      if (record && record.lastRegisteredAt === null) {
        record.lastSeenAt = presence.last_seen_at;
        record.lastRegisteredAt = presence.last_registered_at;
        record.agentVersion = presence.agent_version;
        record.machine = presence.machine_uuid;
        record.online = presence.online === 1;
      }
    }
  }

  #put(row: EdgeRow, keys: readonly KeyRow[], wishes: Map<string, Wish> | undefined): EdgeRecord {
    const record = this.#byId.get(row.id) ?? fresh(row);
    record.name = row.name;
    record.deviceId = row.device_id;
    record.conflict =
      row.conflict_since === null
        ? undefined
        : {
            since: row.conflict_since,
            machines: JSON.parse(row.conflict_machines ?? '[]') as readonly string[],
          };
    record.onlyMachine = row.only_machine;
    record.machineKey = row.machine_key;
    record.takesDevice = row.takes_device;
    record.deviceReason = row.device_reason;
    record.hostDigest = row.host_info === null ? undefined : hostDigest(row.host_info);
    record.keys = keys.map((key) => liveKey(key, this.#secrets));
    record.wishes = wishes;
    this.#byId.set(row.id, record);
    this.#byAccessKey.set(row.access_key, record);
    return record;
  }

  #forget(id: number): EdgeRecord | undefined {
    this.#dropped.add(id);
    const record = this.#byId.get(id);
    if (record) {
      this.#byId.delete(id);
      this.#byAccessKey.delete(record.accessKey);
    }
    return record;
  }
}

function byEdge<R extends { readonly edge_id: number }>(
  rows: readonly R[],
): ReadonlyMap<number, R[]> {
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

const wishesOf = (
  rows: readonly { readonly name: string; readonly enabled: number; readonly spec: string }[],
): Map<string, Wish> | undefined =>
  rows.length === 0
    ? undefined
    : new Map(rows.map(({ name, enabled, spec }) => [name, { enabled: enabled === 1, spec }]));

/** Returns a new record. Written out: an object merged from others takes three times the memory. */
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
  cancelOffline: undefined,
  conflict: undefined,
  onlyMachine: null,
  machineKey: null,
  takesDevice: null,
  deviceReason: null,
  refused: undefined,
  keys: [],
  wishes: undefined,
  health: undefined,
  buffer: undefined,
  policyProblem: undefined,
  hostDigest: undefined,
  tunnel: undefined,
});
