import type { CheckState } from '../check/check.ts';
import type { UptimeRow } from './uptime-store.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type Times = Pick<UptimeRow, 'up_ms' | 'down_ms' | 'stale_ms' | 'maintenance_ms'>;
/** State that time is counted for. */
export type CountedState = CheckState | 'maintenance';

/** Adds up how long each check has been in which state since it was last written down. */
export class UptimeAccount {
  readonly #rows = new Map<string, UptimeRow>();

  /** Counts a time by the clock of the wall; one that runs backwards counts for nothing. */
  add(checkId: number, state: CountedState, from: number, until: number): void {
    const field = fields[state];
    if (field === undefined) {
      return;
    }
    for (let at = from; at < until;) {
      const end = Math.min(until, (Math.floor(at / hourMs) + 1) * hourMs);
      for (const [span, length] of spans) {
        const row = this.#row(checkId, span, Math.floor(at / length) * length);
        row[field] += Math.round(end - at);
      }
      at = end;
    }
  }

  /** Returns what was added since the last call. */
  take(): readonly UptimeRow[] {
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    return rows;
  }

  /** Takes back what could not be written, to be written with what comes. */
  give(rows: readonly UptimeRow[]): void {
    for (const row of rows) {
      const now = this.#row(row.check_id, row.span, row.begins_at);
      now.up_ms += row.up_ms;
      now.down_ms += row.down_ms;
      now.stale_ms += row.stale_ms;
      now.maintenance_ms += row.maintenance_ms;
    }
  }

  #row(checkId: number, span: UptimeRow['span'], beginsAt: number): UptimeRow & Times {
    const key = `${checkId} ${span} ${beginsAt}`;
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = {
        check_id: checkId,
        span,
        begins_at: beginsAt,
        up_ms: 0,
        down_ms: 0,
        stale_ms: 0,
        maintenance_ms: 0,
      };
      this.#rows.set(key, row);
    }
    return row;
  }
}

const fields: Readonly<Partial<Record<CountedState, keyof Times>>> = {
  up: 'up_ms',
  down: 'down_ms',
  stale: 'stale_ms',
  maintenance: 'maintenance_ms',
};
const spans = [
  ['hour', hourMs],
  ['day', dayMs],
] as const;
