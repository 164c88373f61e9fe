import type { ProcessUse, SliKind } from './snapshot.ts';
import { median } from './statistics.ts';
import type { Windows } from './windows.ts';

/** The process that has taken most of a resource since the onset. */
export interface Culprit {
  readonly process: ProcessUse;
  readonly resource: 'cpu' | 'memory' | 'disk';
  /** Percent of a core, bytes, or bytes a second. */
  readonly use: number;
  readonly before: number;
  /** When it began to take it. */
  readonly since: number;
}

const measures = { cpu: 1, memory: 2, disk: 3 } as const;
/** Least growth that is worth a name: a fifth of a core, 64 MiB, a MiB a second. */
const leastGrowth = { cpu: 20, memory: 64 * 1_048_576, disk: 1_048_576 } as const;
/** Least part in what all processes have taken in addition. */
const leastShare = 0.4;
const stepMs = 60_000;

const resourceOf = (kind: SliKind): keyof typeof measures | undefined =>
  kind === 'cpu' || kind === 'load'
    ? 'cpu'
    : kind === 'memory'
      ? 'memory'
      : kind === 'disk'
        ? 'disk'
        : undefined;

/** Returns whose growth accounts for that of a resource of a host; undefined where no single process does. */
export function culpritOf(
  processes: readonly ProcessUse[],
  node: string,
  kind: SliKind,
  { onset, incident }: Windows,
): Culprit | undefined {
  const resource = resourceOf(kind);
  if (resource === undefined) {
    return undefined;
  }
  const grown = processes
    .filter((one) => one.node === node)
    .map((process) => {
      const points = process.uses.map((use) => [use[0], use[measures[resource]]] as const);
      const part = (of: (at: number) => boolean): readonly number[] =>
        points.filter(([at]) => of(at)).map(([, value]) => value);
      const earlier = part((at) => at < onset - stepMs);
      const during = part((at) => at >= onset && at <= incident.to + stepMs);
      // Whoever was not among the first used less than they did.
      const before = earlier.length === 0 ? 0 : median(earlier);
      const use = during.length === 0 ? 0 : median(during);
      const first = points.findLast(([, value]) => value < before + (use - before) / 2)?.[0];
      const rose = points.find(
        ([at, value]) =>
          value >= before + (use - before) / 2 && (first === undefined || at > first),
      )?.[0];
      const { started_at: started } = process;
      const since =
        started !== null && rose !== undefined && Math.abs(rose - started) <= 2 * stepMs
          ? started
          : (rose ?? onset);
      return { process, resource, use, before, since };
    })
    .filter(({ use, before }) => use > before)
    .sort((a, b) => b.use - b.before - (a.use - a.before));
  const [most] = grown;
  const total = grown.reduce((sum, { use, before }) => sum + use - before, 0);
  return most !== undefined &&
    most.use - most.before >= leastGrowth[resource] &&
    most.use - most.before >= leastShare * total
    ? most
    : undefined;
}

/** Returns the words for it, as they follow the figure of the host. */
export function culpritText({ process, resource, use, since }: Culprit): string {
  const { name, pid, user } = process;
  const amount =
    resource === 'cpu'
      ? `${use.toPrecision(3)} % of a core`
      : `${Math.round(use / 1_048_576)} MiB${resource === 'memory' ? ' of memory' : '/s of disk I/O'}`;
  const who =
    pid === null ? 'process group' : user === null ? `PID ${pid}` : `PID ${pid}, user ${user}`;
  return `${name} (${who}) has used ${amount} since ${new Date(since).toISOString().slice(11, 16)} UTC`;
}
