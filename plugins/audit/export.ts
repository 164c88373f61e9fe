import type { Filter } from './rows/filter.ts';
import type { Pause } from './pace.ts';
import { shown, type Shown } from './rows/record.ts';
import type { Store } from './rows/store.ts';

export type Format = 'jsonl' | 'csv';

/** Max rows examined at once; bounds memory, and the delay of others. */
const rowsAtOnce = 500;

/** Yields the matching rows as of the start, oldest first, as a file in pieces. */
export async function* exported(
  store: Store,
  filter: Filter,
  format: Format,
  pause: Pause,
): AsyncGenerator<Uint8Array> {
  const { first, last } = await store.span();
  const text = format === 'csv' ? csvLine : jsonLine;
  if (format === 'csv') {
    yield Buffer.from(`${Object.keys(cells).join(',')}\r\n`);
  }
  for (let after = first - 1; after < last; after += rowsAtOnce) {
    const rows = await store.rows({ after, upTo: Math.min(after + rowsAtOnce, last) }, filter);
    if (rows.length > 0) {
      yield Buffer.from(rows.map((row) => text(shown(row))).join(''));
    }
    await pause();
  }
}

const jsonLine = (row: Shown): string => `${JSON.stringify(row)}\n`;

const cells: Readonly<Record<string, (row: Shown) => string | number | null>> = {
  id: (row) => row.id,
  occurred_at: (row) => row.occurred_at,
  actor_type: (row) => row.actor.type,
  actor_id: (row) => row.actor.id,
  actor_email: (row) => row.actor.email,
  actor_role: (row) => row.actor.role,
  actor_name: (row) => row.actor.name,
  ip: (row) => row.ip,
  user_agent: (row) => row.user_agent,
  action: (row) => row.action,
  resource_type: (row) => row.resource_type,
  resource_id: (row) => row.resource_id,
  status: (row) => row.status,
  http_status: (row) => row.http_status,
  error: (row) => row.error,
  request_id: (row) => row.request_id,
  changes: (row) => (row.changes === null ? null : JSON.stringify(row.changes)),
  prev_hash: (row) => row.prev_hash,
  hash: (row) => row.hash,
};

const csvLine = (row: Shown): string =>
  `${Object.values(cells)
    .map((cell) => csvCell(cell(row)))
    .join(',')}\r\n`;

/** Escapes a cell; a leading apostrophe keeps spreadsheets from reading one as a formula. */
function csvCell(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  const safe = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
