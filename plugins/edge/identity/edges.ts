import type { DeviceDirectory } from 'svc/contracts/device';
import { type ScopeSource, scopeOf } from 'svc/query';
import type { Call, Clock, Handle, Ids, Page, PageRequest, Principal, Tables } from 'svc/sdk';
import { closeCode, makeCredentials } from 'svc/tunnel';
import type { Static } from 'typebox';

import type { Presence } from '../presence/presence.ts';
import { type EdgeFilter, edgeStore, foundFor } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeEvents } from '../record/events.ts';
import { type EdgeRecord, statusOf } from '../record/record.ts';
import type { EdgeDraft, EdgeQuery } from '../record/schema.ts';
import { actorOf, drifts, type EdgeView, type ShownEdge } from '../record/shown.ts';
import type { EdgeDb, EdgeRow, EdgeTables } from '../record/tables.ts';
import type { CloneDetector } from './clone-detector.ts';
import type { EdgeSecrets } from './edge-secrets.ts';
import { errors } from './errors.ts';

export interface EdgesParts {
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly edgeSecrets: EdgeSecrets;
  readonly presence: Presence;
  readonly clones: CloneDetector;
  readonly view: EdgeView;
  readonly devices: Handle<DeviceDirectory>;
  readonly scopes: Handle<ScopeSource>;
  readonly events: EdgeEvents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly managerVersion: string;
  readonly inBackground: (task: string, work: () => Promise<void>) => void;
}

export interface NewEdgeValues {
  readonly name: string;
  readonly description: string;
  readonly labels: object;
  readonly createdBy: string;
  readonly enrolment?: {
    readonly id: number;
    readonly machine: string;
    readonly machineKey: string | null;
    readonly takesDevice: number | null;
  };
}

const maxEdges = 50_000;
const stayAway = { retryMinMs: 300_000, retryMaxMs: 900_000, graceMs: 0 } as const;

/** The edges as people see and change them. */
export class Edges {
  readonly #parts: EdgesParts;

  constructor(parts: EdgesParts) {
    this.#parts = parts;
  }

  async list(
    asker: Principal,
    query: Static<typeof EdgeQuery>,
    page: PageRequest,
    openly = false,
  ): Promise<Page<ShownEdge>> {
    const { tables, view, scopes } = this.#parts;
    const deviceIds = (await scopeOf(scopes, asker))?.ids;
    const { items, ...rest } = await edgeStore(tables.read).list(
      { ...this.#filterOf(query), deviceIds },
      page,
    );
    return { ...rest, items: items.map((row) => view.of(row, openly, deviceIds === undefined)) };
  }

  /** Returns an edge; one outside the asker's scope counts as not found. */
  async get(asker: Principal, id: number, openly = false): Promise<ShownEdge> {
    const { tables, view, scopes } = this.#parts;
    const seen = await scopeOf(scopes, asker);
    return view.of(await foundFor(seen, id, tables.read), openly, seen === undefined);
  }

  async create(
    by: Pick<Call, 'principal' | 'note'>,
    { name, description = '', labels = {} }: Static<typeof EdgeDraft>,
  ): Promise<ShownEdge & { readonly secret_key: string }> {
    const { edgeTable, tables, view } = this.#parts;
    const { row, secretKey } = await tables.write(async (tx) => {
      const made = await this.insert(tx, {
        name,
        description,
        labels,
        createdBy: actorOf(by.principal),
      });
      by.note({ resourceType: 'edge', resourceId: made.row.id, after: view.of(made.row) });
      return made;
    });
    await edgeTable.reload(row.id);
    return { ...view.of(row), secret_key: secretKey };
  }

  /** The edge's rows, inside the write of its maker, who reloads the edge table afterwards. */
  async insert(
    tx: EdgeDb,
    { name, description, labels, createdBy, enrolment }: NewEdgeValues,
  ): Promise<{ readonly row: EdgeRow; readonly secretKey: string }> {
    const { edgeTable, edgeSecrets, clock, ids } = this.#parts;
    if (edgeTable.size >= maxEdges) {
      throw errors.too_many_edges({ maxEdges });
    }
    const now = clock.now();
    const row = await edgeStore(tx).insert({
      name: name.trim(),
      description,
      labels: JSON.stringify(labels),
      access_key: makeCredentials(ids).access_key,
      created_by: createdBy,
      enrolment_id: enrolment?.id ?? null,
      enrolled_machine: enrolment?.machine ?? null,
      machine_key: enrolment?.machineKey ?? null,
      takes_device: enrolment?.takesDevice ?? null,
      created_at: now,
      updated_at: now,
    });
    return { row, secretKey: await edgeSecrets.issue(tx, row.id, 1) };
  }

  async remove(by: Pick<Call, 'principal' | 'note' | 'requireMatch'>, id: number): Promise<void> {
    const { edgeTable, tables, presence, clones, view, devices, scopes, events, inBackground } =
      this.#parts;
    const seen = await scopeOf(scopes, by.principal);
    await tables.write(async (tx) => {
      const before = view.of(await foundFor(seen, id, tx));
      by.requireMatch(before);
      await edgeStore(tx).remove(id);
      by.note({ before });
    });
    const record = edgeTable.drop(id);
    if (record) {
      record.tunnel?.session.goAway(
        { code: closeCode.revoked, message: 'this edge was deleted' },
        stayAway,
      );
      presence.removed(record);
      clones.forget(id);
    }
    events.removed(id);
    if (devices.available) {
      inBackground('release the device of a deleted edge', () => devices.get().release(id));
    }
  }

  /** Converts filters on in-memory state to a list of ids. */
  #filterOf({
    q,
    status,
    label = [],
    device_id: deviceId,
    version_drift: drift,
  }: Static<typeof EdgeQuery>): EdgeFilter {
    const { edgeTable, managerVersion } = this.#parts;
    const isMeant = (record: EdgeRecord): boolean =>
      (status === undefined || statusOf(record) === status) &&
      (drift === undefined || drifts(record.agentVersion, managerVersion) === drift);
    const ids =
      status === undefined && drift === undefined
        ? undefined
        : [...edgeTable.all()].filter(isMeant).map(({ id }) => id);
    return { q, labels: label.map(labelOf), deviceId, ids };
  }
}

function labelOf(text: string): { key: string; value?: string } {
  const equals = text.indexOf('=');
  return equals < 0 ? { key: text } : { key: text.slice(0, equals), value: text.slice(equals + 1) };
}
