import { type Tables, timestamp } from 'svc/sdk';

import type { Check } from '../check/check.ts';
import type { CheckTables } from '../check/check-store.ts';
import type { Uptime } from '../check/check-schema.ts';
import { uptimeStore } from './uptime-store.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Days for which hours are kept. */
const daysInHours = 7;

/** Reads how long a check was up since the beginning of a span of so many days. */
export async function uptimeOf(
  db: Tables<CheckTables>['read'],
  { id, createdAt }: Pick<Check, 'id' | 'createdAt'>,
  days: number,
  now: number,
): Promise<Omit<Uptime, 'changes'> & { readonly from: number }> {
  const [span, length] =
    days <= daysInHours ? (['hour', hourMs] as const) : (['day', dayMs] as const);
  const from = Math.floor((now - days * dayMs) / length) * length + length;
  const rows = new Map(
    (await uptimeStore(db).of(id, span, from)).map((row) => [row.begins_at, row]),
  );
  const spans: Uptime['spans'] = [];
  for (let begins = from; begins <= now; begins += length) {
    const {
      up_ms: up = 0,
      down_ms: down = 0,
      stale_ms: stale = 0,
      maintenance_ms: maintenance = 0,
    } = rows.get(begins) ?? {};
    const lasted = Math.min(now, begins + length) - Math.max(begins, createdAt);
    spans.push({
      begins_at: timestamp(begins),
      up_ms: up,
      down_ms: down,
      stale_ms: stale,
      maintenance_ms: maintenance,
      away_ms: Math.max(0, Math.round(lasted) - up - down - stale - maintenance),
    });
  }
  const sum = (field: 'up_ms' | 'down_ms'): number =>
    spans.reduce((total, { [field]: ms }) => total + ms, 0);
  const measured = sum('up_ms') + sum('down_ms');
  return {
    from,
    ratio: measured === 0 ? null : sum('up_ms') / measured,
    measured_ms: measured,
    spans,
  };
}

/** Reads which share of each of the last 24 hours these checks were up. */
export async function hoursOf(
  db: Tables<CheckTables>['read'],
  ids: readonly number[],
  now: number,
): Promise<ReadonlyMap<number, readonly (number | null)[]>> {
  const from = Math.floor(now / hourMs) * hourMs - 23 * hourMs;
  const hours = new Map(
    ids.map((id) => [id, Array.from<number | null>({ length: 24 }).fill(null)]),
  );
  const rows = ids.length === 0 ? [] : await uptimeStore(db).hoursOf(ids, from);
  for (const { check_id: id, begins_at: begins, up_ms: up, down_ms: down } of rows) {
    const hour = (begins - from) / hourMs;
    if (up + down > 0 && hour < 24) {
      hours.get(id)![hour] = up / (up + down);
    }
  }
  return hours;
}
