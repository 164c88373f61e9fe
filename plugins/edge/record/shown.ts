import type { BufferDamage, HostInfo } from 'svc/edge-protocol';
import { type Principal, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import { type Neighbours, neighboursNotice } from './neighbours.ts';
import type { EdgeTable } from './edge-table.ts';
import { type EdgeRecord, statusOf } from './record.ts';
import type { EdgeItem, EnrolmentItem, UpgradeItem } from './schema.ts';
import type { EdgeRow, EnrolmentRow, UpgradeRow } from './tables.ts';

export type ShownEdge = Static<typeof EdgeItem>;
export type ShownEnrolment = Static<typeof EnrolmentItem>;
export type ShownUpgrade = Static<typeof UpgradeItem>;

const instant = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : timestamp(at);
const plain = (version: string): string => version.replace(/^v/, '');

export const drifts = (agentVersion: string | null, managerVersion: string): boolean =>
  agentVersion !== null && plain(agentVersion) !== plain(managerVersion);

/** Returns the creator as shown. */
export const actorOf = ({ email, name, kind, id }: Principal): string =>
  email ?? name ?? `${kind} ${id}`;

/** Last contact of edges. */
export interface Sightings {
  seenAt(record: EdgeRecord): number | null;
}

/** The row says what an edge is, memory how it is. */
export class EdgeView {
  readonly #edgeTable: Pick<EdgeTable, 'byId'>;
  readonly #neighbours: Pick<Neighbours, 'of'>;
  readonly #managerVersion: string;
  readonly #sightings: Sightings;

  constructor(
    {
      edgeTable,
      neighbours,
      managerVersion,
    }: {
      readonly edgeTable: Pick<EdgeTable, 'byId'>;
      readonly neighbours: Pick<Neighbours, 'of'>;
      readonly managerVersion: string;
    },
    sightings: Sightings,
  ) {
    this.#edgeTable = edgeTable;
    this.#neighbours = neighbours;
    this.#managerVersion = managerVersion;
    this.#sightings = sightings;
  }

  /**
   * `openly`: with the identities of machines, which are for those who tell them apart; `seesAll`:
   * with other edges that it concerns.
   */
  of(row: EdgeRow, openly = false, seesAll = false): ShownEdge {
    const record = this.#edgeTable.byId(row.id);
    const shown = {
      ...shownEdge(
        row,
        record,
        record ? this.#sightings.seenAt(record) : null,
        this.#managerVersion,
      ),
      notice: record ? noticeOf(record, seesAll ? this.#neighbours.of(record) : []) : null,
    };
    return openly || shown.conflict === null
      ? shown
      : { ...shown, conflict: { ...shown.conflict, machine_uuids: [] } };
  }
}

function shownEdge(
  row: EdgeRow,
  record: EdgeRecord | undefined,
  seenAt: number | null,
  managerVersion: string,
): Omit<ShownEdge, 'notice'> {
  const conflict =
    row.conflict_since === null
      ? null
      : {
          since: timestamp(row.conflict_since),
          machine_uuids: JSON.parse(row.conflict_machines ?? '[]') as string[],
        };
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: record ? statusOf(record) : 'pending',
    access_key: row.access_key,
    agent_version: record?.agentVersion ?? null,
    version_drift: drifts(record?.agentVersion ?? null, managerVersion),
    clock_skew_ms: record?.tunnel?.clockSkewMs ?? null,
    device_id: row.device_id,
    device_reason: row.device_id === null ? reasonOf(row, record) : null,
    machine_bound: row.machine_key !== null,
    refused_machine: record?.refused
      ? { at: timestamp(record.refused.at), ip: record.refused.ip, reason: record.refused.reason }
      : null,
    host_info: row.host_info === null ? null : { ...(JSON.parse(row.host_info) as HostInfo) },
    labels: JSON.parse(row.labels) as Record<string, string>,
    last_seen_at: instant(seenAt),
    last_registered_at: instant(record?.lastRegisteredAt),
    conflict,
    buffer: record?.buffer ?? null,
    secret_generation: record?.keys[0]?.generation ?? null,
    previous_secret_until: instant(record?.keys[1]?.diesAt),
    created_by: row.created_by,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}

/** Returns what the agent cannot do, and what is wrong with its machine. */
function noticeOf(
  { health, tunnel, wishes, policyProblem, buffer }: EdgeRecord,
  neighbours: readonly EdgeRecord[],
): string | null {
  const troubles = tunnel
    ? [...(health ?? [])].flatMap(([name, { state, last_error: error }]) =>
        error === null || wishes?.get(name)?.enabled === false
          ? []
          : [`${name}: ${state === 'crashed' ? 'crashed: ' : ''}${error}`],
      )
    : [];
  const said = [
    ...(neighbours.length > 0 ? [neighboursNotice(neighbours)] : []),
    ...(tunnel && policyProblem !== undefined ? [policyProblem] : []),
    ...(buffer?.damaged ?? []).map(damageNotice),
    ...troubles,
  ];
  return said.length === 0 ? null : said.join('; ');
}

const damageNotice = ({ lane, file, bytes, from, to }: BufferDamage): string =>
  `${bytes} bytes of unsent ${lane} ${spanOf(from, to)} are lost: ${file} is damaged; check the disk of that machine`;

function spanOf(from: string | null, to: string | null): string {
  if (from !== null && to !== null) {
    return `from between ${from} and ${to}`;
  }
  if (from !== null) {
    return `from after ${from}`;
  }
  return to === null ? 'of unknown time' : `from before ${to}`;
}

/** Why it watches no device: what the directory said, or what has not happened yet. */
function reasonOf(
  { device_reason: said, conflict_since: since }: EdgeRow,
  record: EdgeRecord | undefined,
): string {
  if (since !== null) {
    return 'two machines use its keys, and both are refused';
  }
  if (said !== null || record?.deviceReason) {
    return said ?? record!.deviceReason!;
  }
  if (record === undefined || record.lastRegisteredAt === null) {
    return 'it has never connected';
  }
  return record.tunnel
    ? 'its machine has not introduced itself yet'
    : 'its machine has not introduced itself before it left';
}

export function shownEnrolment(row: EnrolmentRow, now: number): ShownEnrolment {
  const status =
    row.revoked_at !== null
      ? 'revoked'
      : row.expires_at <= now
        ? 'expired'
        : row.uses >= row.max_uses
          ? 'used_up'
          : 'open';
  return {
    id: row.id,
    name: row.name,
    labels: JSON.parse(row.labels) as Record<string, string>,
    device_id: row.device_id,
    max_uses: row.max_uses,
    uses: row.uses,
    status,
    expires_at: timestamp(row.expires_at),
    revoked_at: instant(row.revoked_at),
    created_by: row.created_by,
    created_at: timestamp(row.created_at),
  };
}

export const shownUpgrade = (row: UpgradeRow): ShownUpgrade => ({
  job_id: row.job_id,
  edge_id: row.edge_id,
  state: row.state as ShownUpgrade['state'],
  url: row.url,
  sha256: row.sha256,
  version: row.version,
  error: row.error,
  created_by: row.created_by,
  created_at: timestamp(row.created_at),
  updated_at: timestamp(row.updated_at),
  ended_at: instant(row.ended_at),
});
