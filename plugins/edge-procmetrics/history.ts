import { plainName, type ProcessStat } from 'svc/probe';

/** Use of the machine by one process over the minute before a measurement. */
export interface Use {
  readonly stat: ProcessStat;
  /** Share of one core, in percent. */
  readonly cpu: number;
  readonly rss: number;
  /** Bytes read and written a second. */
  readonly io: number;
}

/** A process with its use at each time at which it was among the first. */
export interface RememberedProcess {
  readonly pid: number;
  readonly name: string;
  readonly user: string | null;
  /** Milliseconds since the epoch; null where the machine does not tell. */
  readonly started_at: number | null;
  /** `[time, percent of a core, resident bytes, bytes read and written a second]`, oldest first. */
  readonly uses: readonly (readonly [at: number, cpu: number, rss: number, io: number])[];
}

export interface HistoryParts {
  readonly userOf: (pid: number) => string | null;
  readonly bootTime: () => number | undefined;
}

interface Known {
  readonly pid: number;
  readonly name: string;
  readonly user: string | null;
  readonly started_at: number | null;
  lastAt: number;
}

interface Moment {
  readonly at: number;
  readonly uses: readonly (readonly [key: string, cpu: number, rss: number, io: number])[];
}

const keptMs = 6 * 3_600_000;
/** Processes of each measurement, by each of three measures. */
const first = 5;
/** Processes of an answer. */
const mostTold = 40;

/** The processes that used the most of this machine, by processor, memory and disk, at each measurement of six hours. */
export class ProcessHistory {
  readonly #parts: HistoryParts;
  readonly #known = new Map<string, Known>();
  #moments: Moment[] = [];

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  note(at: number, uses: readonly Use[]): void {
    const largest = (of: (use: Use) => number): readonly Use[] =>
      uses
        .filter((use) => of(use) > 0)
        .toSorted((a, b) => of(b) - of(a))
        .slice(0, first);
    const kept = new Set([
      ...largest(({ cpu }) => cpu),
      ...largest(({ rss }) => rss),
      ...largest(({ io }) => io),
    ]);
    this.#moments = this.#moments.filter((moment) => moment.at > at - keptMs && moment.at < at);
    this.#moments.push({
      at,
      uses: [...kept].map(({ stat, cpu, rss, io }) => [
        this.#keyOf(stat, at),
        rounded(cpu),
        rss,
        Math.round(io),
      ]),
    });
    for (const [key, { lastAt }] of this.#known) {
      if (lastAt <= at - keptMs) {
        this.#known.delete(key);
      }
    }
  }

  /** Returns the processes of a time, those with the most use first. */
  between(from: number, to: number): readonly RememberedProcess[] {
    const found = new Map<string, (readonly [number, number, number, number])[]>();
    for (const { at, uses } of this.#moments) {
      if (at >= from && at <= to) {
        uses.forEach(([key, ...use]) => {
          const own = found.get(key) ?? [];
          own.push([at, ...use]);
          found.set(key, own);
        });
      }
    }
    const told = [1, 2, 3].flatMap((measure) =>
      [...found]
        .map(([key, uses]) => [key, Math.max(...uses.map((use) => use[measure]!))] as const)
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, Math.floor(mostTold / 3))
        .map(([key]) => key),
    );
    return [...new Set(told)].map((key) => {
      const { pid, name, user, started_at } = this.#known.get(key)!;
      return { pid, name, user, started_at, uses: found.get(key)! };
    });
  }

  /** A process is told by its number and its start; who it is, is asked once. */
  #keyOf({ pid, startTime, name }: ProcessStat, at: number): string {
    const key = `${pid} ${startTime} ${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) {
      known.lastAt = at;
      return key;
    }
    const boot = this.#parts.bootTime();
    this.#known.set(key, {
      pid,
      name: plainName(name),
      user: this.#parts.userOf(pid),
      started_at: boot === undefined ? null : Math.round((boot + startTime / 100) * 1_000),
      lastAt: at,
    });
    return key;
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10;
