import {
  type Call,
  type Clock,
  type Handle,
  type Ids,
  isSvcError,
  type Logger,
  type Page,
  type PageRequest,
  type Principal,
  type Secrets,
  SvcError,
  type Tables,
} from 'svc/sdk';
import { parseDuration } from 'svc/query';
import { closeCode, makeCredentials } from 'svc/tunnel';
import type { Static } from 'typebox';

import type { DeviceDirectory } from '../device/contract.ts';
import { type EdgeFilter, edgeStore } from './edge-store.ts';
import { offerPlace, sealPlace } from './connection/live-key.ts';
import type { Presence } from './connection/presence.ts';
import { type EdgeRecord, statusOf } from './record.ts';
import type { Rivalry } from './connection/clone-detector.ts';
import type { Roll } from './edge-table.ts';
import { canBeOffered, isBeingOffered, type Rotations } from './connection/rotations.ts';
import type { EdgeDraft, EdgeQuery, RotateRequest } from './schema.ts';
import { drifts, type ShownEdge, shownEdge } from './shown.ts';
import type { EdgeDb, EdgeRow, EdgeTables } from './tables.ts';
import type { Telling } from './events.ts';

type By = Pick<Call, 'principal' | 'note' | 'requireMatch'>;

/** The edges as people see and change them. */
export interface Edges {
  list(query: Static<typeof EdgeQuery>, page: PageRequest): Promise<Page<ShownEdge>>;
  get(id: number): Promise<ShownEdge>;
  create(by: By, draft: Static<typeof EdgeDraft>): Promise<ShownEdge & { readonly secret_key: string }>;
  /** The edge's rows, inside the write of whoever makes it; `admit` brings it into memory afterwards. */
  insert(tx: EdgeDb, edge: NewEdgeValues): Promise<{ readonly row: EdgeRow; readonly secretKey: string }>;
  /** Gives an edge that has never connected another secret. */
  renew(tx: EdgeDb, edgeId: number): Promise<string>;
  admit(id: number): Promise<void>;
  remove(by: By, id: number): Promise<void>;
  rotate(by: By, id: number, request: Static<typeof RotateRequest>): Promise<ShownEdge & { readonly secret_key: string }>;
  /** Ends a conflict: with this machine, or with whoever comes. */
  resolve(by: By, id: number, machine: string | undefined): Promise<ShownEdge>;
}

export interface NewEdgeValues {
  readonly name: string;
  readonly description: string;
  readonly labels: object;
  readonly createdBy: string;
  readonly enrolment?: { readonly id: number; readonly machine: string };
}

export interface EdgesParts {
  readonly roll: Roll;
  readonly tables: Tables<EdgeTables>;
  readonly secrets: Secrets;
  readonly presence: Presence;
  readonly rotations: Rotations;
  readonly rivalry: Rivalry;
  readonly devices: Handle<DeviceDirectory>;
  readonly telling: Telling;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly managerVersion: string;
  /** Outlives the request that asks for it. */
  readonly detached: (work: () => Promise<void>) => void;
}

const mostEdges = 50_000;
const longestGraceMs = 24 * 3_600_000;
const stayAway = { retryMinMs: 300_000, retryMaxMs: 900_000, graceMs: 0 } as const;

export const actorOf = ({ email, name, kind, id }: Principal): string => email ?? name ?? `${kind} ${id}`;

export function createEdges(parts: EdgesParts): Edges {
  const { roll, tables, secrets, presence, rotations, rivalry, devices, telling, clock, ids, log, managerVersion, detached } = parts;
  const { read, write } = tables;

  const shown = (row: EdgeRow): ShownEdge => {
    const record = roll.byId(row.id);
    return shownEdge(row, record, record ? presence.seenAt(record) : null, managerVersion);
  };

  async function addKey(tx: EdgeDb, edgeId: number, generation: number, offered = false): Promise<{ access_key: string; secret_key: string }> {
    const { access_key, secret_key, stored_key, server_key } = makeCredentials(ids);
    const sealed = secrets.seal(sealPlace(edgeId, generation), server_key);
    const offer = offered ? secrets.seal(offerPlace(edgeId, generation), secret_key) : null;
    await edgeStore(tx).addKey({ edge_id: edgeId, generation, stored_key, server_key: sealed, offer, dies_at: null, created_at: clock.now() });
    return { access_key, secret_key };
  }

  async function insert(tx: EdgeDb, { name, description, labels, createdBy, enrolment }: NewEdgeValues) {
    if (roll.size >= mostEdges) {
      throw new SvcError('conflict', `there are ${mostEdges} edges already, and no more fit; delete some that are gone`);
    }
    const now = clock.now();
    const row = await edgeStore(tx).insert({
      ...{ name: name.trim(), description, labels: JSON.stringify(labels), access_key: makeCredentials(ids).access_key, created_by: createdBy },
      ...{ enrolment_id: enrolment?.id ?? null, enrolled_machine: enrolment?.machine ?? null, created_at: now, updated_at: now },
    });
    const { secret_key: secretKey } = await addKey(tx, row.id, 1);
    return { row, secretKey };
  }

  async function renew(tx: EdgeDb, edgeId: number): Promise<string> {
    const keys = await edgeStore(tx).keysOf(edgeId);
    await edgeStore(tx).dropKeys(
      edgeId,
      keys.map(({ generation }) => generation),
    );
    return (await addKey(tx, edgeId, (keys[0]?.generation ?? 0) + 1)).secret_key;
  }

  /** Which of the older secrets may go on, and until when: the one the edge has, as far as anybody knows. */
  function survivor(record: EdgeRecord, livesMs: number): { generation: number; diesAt: number } | undefined {
    const generation = record.tunnel?.generation ?? record.keys.at(-1)?.generation;
    return generation === undefined || livesMs === 0 ? undefined : { generation, diesAt: clock.now() + livesMs };
  }

  async function admit(id: number): Promise<void> {
    await roll.reload(id);
  }

  return {
    insert,
    renew,
    admit,

    async list(query, page) {
      const { items, ...rest } = await edgeStore(read).list(filterOf(query, roll, managerVersion), page);
      return { ...rest, items: items.map(shown) };
    },

    get: async (id) => shown(await found(id, read)),

    async create(by, { name, description = '', labels = {} }) {
      const { row, secretKey } = await write(async (tx) => {
        const made = await insert(tx, { name, description, labels, createdBy: actorOf(by.principal) });
        by.note({ resourceType: 'edge', resourceId: made.row.id, after: shown(made.row) });
        return made;
      });
      await admit(row.id);
      return { ...shown(row), secret_key: secretKey };
    },

    async remove(by, id) {
      await write(async (tx) => {
        const before = shown(await found(id, tx));
        by.requireMatch(before);
        await edgeStore(tx).remove(id);
        by.note({ before });
      });
      const record = roll.drop(id);
      if (record) {
        record.tunnel?.session.goAway({ code: closeCode.revoked, message: 'this edge was deleted' }, stayAway);
        presence.removed(record);
        rivalry.forget(id);
      }
      telling.removed(id);
      if (devices.available) {
        detached(() => devices.get().release(id));
      }
    },

    async rotate(by, id, { grace = '0s', immediate = false }) {
      const graceMs = parseDuration(grace);
      if (graceMs > longestGraceMs) {
        throw new SvcError('invalid_argument', 'grace is at most 24h', { details: [{ path: '/grace', message: 'is at most 24h' }] });
      }
      if (immediate && graceMs > 0) {
        throw new SvcError('invalid_argument', 'either the old secret is dead now, or it has a grace', {
          details: [{ path: '/immediate', message: 'goes with no grace' }],
        });
      }
      const record = known(roll.byId(id), id);
      const offered = !immediate && canBeOffered(record);
      const keeps = survivor(record, immediate ? 0 : offered ? longestGraceMs : graceMs);
      const made = await write(async (tx) => {
        const before = shown(await found(id, tx));
        const store = edgeStore(tx);
        const keys = await store.keysOf(id);
        if (isBeingOffered({ keys }) && !immediate) {
          throw new SvcError('conflict', `edge ${id} has not taken the secret yet that it was given last; wait for that, or ask for "immediate"`);
        }
        const generation = (keys[0]?.generation ?? 0) + 1;
        await store.dropKeys(
          id,
          keys.map((key) => key.generation).filter((older) => older !== keeps?.generation),
        );
        if (keeps) {
          await store.setDeath(id, keeps.generation, keeps.diesAt);
        }
        const { secret_key: secretKey } = await addKey(tx, id, generation, offered && keeps !== undefined);
        // Whoever has the new secret is meant.
        const row = await store.update(id, { conflict_since: null, conflict_machines: null, only_machine: null }, clock.now());
        by.note({ before, after: { ...shown(row), secret_generation: generation } });
        return { row, secretKey };
      });
      const wasInConflict = record.conflict !== undefined;
      await roll.reload(id);
      rivalry.forget(id);
      if (wasInConflict) {
        telling.conflict(record);
      }
      if (record.tunnel) {
        detached(() => rotations.offer(record));
      }
      rotations.expire(record);
      return { ...shown(made.row), secret_key: made.secretKey };
    },

    async resolve(by, id, machine) {
      const row = await write(async (tx) => {
        const before = await found(id, tx);
        if (before.conflict_since === null) {
          throw new SvcError('conflict', `edge ${id} is in no conflict`);
        }
        const after = await edgeStore(tx).update(
          id,
          { conflict_since: null, conflict_machines: null, only_machine: machine?.toLowerCase() ?? null },
          clock.now(),
        );
        by.note({ before: shown(before), after: shown(after) });
        return after;
      });
      const record = await roll.reload(id);
      rivalry.forget(id);
      if (record) {
        log.info({ edge: id, machine }, `the conflict about edge ${id} is settled`);
        telling.conflict(record);
      }
      return shown(row);
    },
  };
}

export async function found(id: number, db: EdgeDb): Promise<EdgeRow> {
  return known(await edgeStore(db).find(id), id);
}

export function known<T>(edge: T | undefined, id: number): T {
  if (edge === undefined) {
    throw new SvcError('not_found', `there is no edge ${id}`);
  }
  return edge;
}

/** What is only in memory becomes a list of ids. */
function filterOf(
  { q, status, label = [], device_id: deviceId, version_drift: drift }: Static<typeof EdgeQuery>,
  roll: Roll,
  managerVersion: string,
): EdgeFilter {
  const isMeant = (record: EdgeRecord): boolean =>
    (status === undefined || statusOf(record) === status) && (drift === undefined || drifts(record.agentVersion, managerVersion) === drift);
  const ids = status === undefined && drift === undefined ? undefined : [...roll.all()].filter(isMeant).map(({ id }) => id);
  return { q, labels: label.map(labelOf), deviceId, ids };
}

function labelOf(text: string): { key: string; value?: string } {
  const equals = text.indexOf('=');
  return equals < 0 ? { key: text } : { key: text.slice(0, equals), value: text.slice(equals + 1) };
}

export const causeOf = (error: unknown): string => (isSvcError(error) ? error.message : String(error));
