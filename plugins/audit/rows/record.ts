import { type AuditRecord, timestamp } from 'svc/sdk';

import type { Row } from './tables.ts';

/** Fields of a row, in the order of its canonical JSON. */
export interface Entry {
  readonly occurred_at: number;
  readonly actor: {
    readonly type: string;
    readonly id: string;
    readonly email: string | null;
    readonly role: string;
    readonly name: string | null;
  };
  readonly ip: string;
  readonly user_agent: string;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly status: 'success' | 'failure' | 'denied';
  readonly http_status: number;
  readonly error: string | null;
  readonly request_id: string;
  readonly changes: { readonly before: unknown; readonly after: unknown } | null;
}

const longestText = 1_000;
const largestChange = 8_192;
const mostFields = 32;
const largestField = 200;

/** The record as the chain keeps it: every field, always in this order, bounded. Secrets are out of it already. */
export function canonical({ principal, before, after, ...record }: AuditRecord): string {
  const entry: Entry = {
    occurred_at: record.occurredAt,
    actor: {
      type: principal.kind,
      id: clipped(principal.id),
      email: orNull(principal.email),
      role: clipped(principal.role),
      name: orNull(principal.name),
    },
    ip: clipped(record.ip),
    user_agent: clipped(record.userAgent),
    action: clipped(record.action),
    resource_type: clipped(record.resourceType),
    resource_id: orNull(record.resourceId),
    status: record.status,
    http_status: record.httpStatus,
    error: orNull(record.error),
    request_id: clipped(record.requestId),
    changes:
      before === undefined && after === undefined
        ? null
        : { before: fitting(before), after: fitting(after) },
  };
  return JSON.stringify(entry);
}

export type Shown = Omit<Entry, 'occurred_at'> & {
  readonly id: number;
  readonly occurred_at: string;
  readonly prev_hash: string;
  readonly hash: string;
};

/** A row as people get it. */
export function shown({ seq, record, prev_hash, hash }: Row): Shown {
  const { occurred_at, ...entry } = entryOf(record);
  return { id: seq, occurred_at: timestamp(occurred_at), ...entry, prev_hash, hash };
}

/**
 * Parses a record; a row that was corrupted in the database must not break the pages that show it.
 */
export function entryOf(record: string): Entry {
  try {
    const { actor, ...entry } = JSON.parse(record) as Entry;
    return { ...illegible, ...entry, actor: { ...illegible.actor, ...actor } };
  } catch {
    // Verification reports which row it is, and why; here it is shown as unreadable.
    return illegible;
  }
}

const illegible: Entry = {
  occurred_at: 0,
  actor: { type: 'unknown', id: '', email: null, role: '', name: null },
  ip: '',
  user_agent: '',
  action: '',
  resource_type: '',
  resource_id: null,
  status: 'failure',
  http_status: 0,
  error: 'this row cannot be read: it was altered in the database',
  request_id: '',
  changes: null,
};

const clipped = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}…` : text;

const orNull = (text: string | undefined): string | null =>
  text === undefined ? null : clipped(text);

/** One side of a change; where it is too large, its small fields stay and the others are only named. */
function fitting(side: unknown): unknown {
  if (side === undefined || side === null) {
    return null;
  }
  if (sizeOf(side) <= largestChange) {
    return side;
  }
  if (typeof side !== 'object' || Array.isArray(side)) {
    return '…';
  }
  const fields = Object.entries(side).slice(0, mostFields);
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name.slice(0, largestField),
      sizeOf(value) <= largestField ? value : '…',
    ]),
  );
}

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;
