import type { Clock, Tables } from 'svc/sdk';

import type { Check } from '../check/check.ts';
import type { GroupShown } from '../check/check-schema.ts';
import type { CheckTables } from '../check/check-store.ts';
import { uptimeStore } from './uptime-store.ts';

const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** Sums over a year of thousands of checks take a while, and change slowly. */
const freshMs = 60_000;
const ranges = [
  ['day', 'hour', 24, hourMs],
  ['week', 'day', 7, dayMs],
  ['month', 'day', 30, dayMs],
  ['year', 'day', 365, dayMs],
] as const;
/** Worst first. */
const states = ['down', 'stale', 'up', 'waiting', 'paused'] as const;

type Range = (typeof ranges)[number][0];
type Sums = ReadonlyMap<number, { readonly up_ms: number; readonly down_ms: number }>;

export interface GroupUptimeParts {
  readonly tables: Tables<CheckTables>;
  readonly clock: Clock;
  /** Writes down what was measured up to now. */
  readonly flush: () => Promise<void>;
}

/** Uptime of checks that belong together. */
export class GroupUptime {
  readonly #parts: GroupUptimeParts;
  #sums: { readonly at: number; readonly read: Promise<ReadonlyMap<Range, Sums>> } | undefined;

  constructor(parts: GroupUptimeParts) {
    this.#parts = parts;
  }

  async of(checks: readonly Check[]): Promise<readonly GroupShown[]> {
    const sums = await this.#known();
    const groups = new Map<string, Check[]>();
    for (const check of checks) {
      const { group } = check.definition;
      const members = groups.get(group) ?? [];
      members.push(check);
      groups.set(group, members);
    }
    return [...groups].map(([group, members]) => ({
      group,
      state: states.find((state) => members.some((check) => stateOf(check) === state))!,
      checks: members.length,
      down: members.filter((check) => stateOf(check) === 'down').map(({ name }) => name),
      uptime: {
        day: ratioOf(members, sums.get('day')!),
        week: ratioOf(members, sums.get('week')!),
        month: ratioOf(members, sums.get('month')!),
        year: ratioOf(members, sums.get('year')!),
      },
    }));
  }

  #known(): Promise<ReadonlyMap<Range, Sums>> {
    const now = this.#parts.clock.monotonic();
    if (this.#sums === undefined || now - this.#sums.at >= freshMs) {
      const read = this.#read();
      this.#sums = { at: now, read };
      // What failed is read again by the next caller.
      read.catch(() => (this.#sums = undefined));
    }
    return this.#sums.read;
  }

  async #read(): Promise<ReadonlyMap<Range, Sums>> {
    const { tables, clock, flush } = this.#parts;
    await flush();
    const sums = new Map<Range, Sums>();
    for (const [range, span, count, length] of ranges) {
      const from = (Math.floor(clock.now() / length) - count + 1) * length;
      const rows = await uptimeStore(tables.read).sums(span, from);
      sums.set(range, new Map(rows.map((row) => [row.check_id, row])));
    }
    return sums;
  }
}

const stateOf = ({ paused, state }: Check): (typeof states)[number] => (paused ? 'paused' : state);

/** Each check counts by the time in which it was measured. */
function ratioOf(checks: readonly Check[], sums: Sums): number | null {
  let [up, measured] = [0, 0];
  for (const { id } of checks) {
    const { up_ms: upMs = 0, down_ms: downMs = 0 } = sums.get(id) ?? {};
    up += upMs;
    measured += upMs + downMs;
  }
  return measured === 0 ? null : up / measured;
}
