/** Modes of a CPU in the order of /proc/stat; the two of guests are counted in user and nice as well. */
export const cpuModes = [
  'user',
  'nice',
  'system',
  'idle',
  'iowait',
  'irq',
  'softirq',
  'steal',
] as const;
const [idle, guest, fields] = [3, 8, 10];

/** Jiffies of one CPU: the modes, then guest and guest_nice. */
export type CpuTimes = readonly number[];

export interface KernelStat {
  /** Times per CPU, by its number as text. */
  readonly cpus: ReadonlyMap<string, CpuTimes>;
  /** `ctxt`, `btime`, `processes`, `procs_running`, `procs_blocked`, and the total of `intr`. */
  readonly totals: ReadonlyMap<string, number>;
}

export function parseStat(text: string): KernelStat {
  const cpus = new Map<string, CpuTimes>();
  const totals = new Map<string, number>();
  for (let begin = 0; begin < text.length;) {
    const stop = text.indexOf('\n', begin);
    const end = stop === -1 ? text.length : stop;
    const space = text.indexOf(' ', begin);
    if (space !== -1 && space < end) {
      const key = text.slice(begin, space);
      if (/^cpu\d+$/.test(key)) {
        const values = text
          .slice(space + 1, end)
          .trim()
          .split(/ +/)
          .map(Number);
        // Old kernels have no steal or guest.
        cpus.set(
          key.slice(3),
          Array.from({ length: fields }, (_, i) => values[i] ?? 0),
        );
      } else if (!key.startsWith('cpu')) {
        // `intr` continues with a thousand numbers that are not needed.
        const next = text.indexOf(' ', space + 1);
        const value = Number(text.slice(space + 1, next === -1 || next > end ? end : next));
        if (Number.isFinite(value)) {
          totals.set(key, value);
        }
      }
    }
    begin = end + 1;
  }
  return { cpus, totals };
}

/** Jiffies by which the idle time must fall for the CPU to count as hot-plugged. */
const hotPlugged = 300;

/**
 * Times of each CPU as monotonic counters: the kernel recomputes idle and iowait at each reading,
 * and they may fall a little. If idle falls far, the CPU was offline and restarts at zero; one that
 * is offline is dropped.
 */
export class CpuHistory {
  readonly #highest = new Map<string, number[]>();

  grown(cpus: ReadonlyMap<string, CpuTimes>): ReadonlyMap<string, CpuTimes> {
    for (const cpu of this.#highest.keys()) {
      if (!cpus.has(cpu)) {
        this.#highest.delete(cpu);
      }
    }
    const answer = new Map<string, CpuTimes>();
    for (const [cpu, times] of cpus) {
      const before = this.#highest.get(cpu);
      const highest =
        before === undefined || before[idle]! - times[idle]! >= hotPlugged
          ? [...times]
          : before.map((value, i) => Math.max(value, times[i]!));
      this.#highest.set(cpu, highest);
      answer.set(cpu, highest);
    }
    return answer;
  }
}

/** The share of the time between two readings that the CPUs were busy, 0 to 100; undefined when none can be compared. */
export function busyPercent(
  before: ReadonlyMap<string, CpuTimes>,
  now: ReadonlyMap<string, CpuTimes>,
): number | undefined {
  let all = 0;
  let resting = 0;
  for (const [cpu, times] of now) {
    const earlier = before.get(cpu);
    // Nothing can be said of a CPU that came back in between.
    if (earlier === undefined || earlier[idle]! > times[idle]!) {
      continue;
    }
    for (let mode = 0; mode < guest; mode++) {
      all += times[mode]! - earlier[mode]!;
    }
    resting += times[idle]! - earlier[idle]! + (times[idle + 1]! - earlier[idle + 1]!);
  }
  return all > 0 ? Math.min(100, Math.max(0, 100 * (1 - resting / all))) : undefined;
}
