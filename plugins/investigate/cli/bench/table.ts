import { type Findings, investigate } from 'svc/rca';

import { baselines } from './baselines.ts';
import type { Case, Truth } from './case.ts';

/**
 * Rates at which a method had a right answer among its first one, three and five, over the cases
 * where something is broken.
 */
export interface Row {
  readonly method: string;
  readonly cases: number;
  readonly ac1: number;
  readonly ac3: number;
  readonly ac5: number;
  readonly avg5: number;
  readonly ms_per_case: number;
}

export interface Table {
  readonly rows: readonly Row[];
  /** Verdicts, of the engine only. */
  readonly verdicts: {
    readonly calm: number;
    /** Calm cases for which a cause was named all the same. */
    readonly false_alarms: number;
    readonly withheld: number;
    /** Number of those in which it said that the evidence is insufficient. */
    readonly insufficient: number;
    readonly named: Readonly<Record<string, number>>;
  };
  readonly by_fault: readonly {
    readonly fault: string;
    readonly cases: number;
    readonly ac1: number;
    readonly ac3: number;
    readonly category: number;
  }[];
  /** Accuracy by stated confidence. */
  readonly reliability: readonly {
    readonly from: number;
    readonly to: number;
    readonly cases: number;
    readonly right: number;
  }[];
}

interface Run {
  readonly truth: Truth;
  readonly findings: Findings;
  readonly ranks: ReadonlyMap<string, number>;
}

const own = 'svc';
const bins = [0, 0.35, 0.5, 0.6, 0.7, 0.8, 1.0001];

/** Runs the engine and the baselines over the same cases. */
export async function tableOf(
  cases: Iterable<Case> | AsyncIterable<Case>,
  each?: (done: number) => void,
): Promise<Table> {
  const runs: Run[] = [];
  const spent = new Map<string, number>();
  const timed = <T>(method: string, work: () => T): T => {
    const begun = performance.now();
    const result = work();
    spent.set(method, (spent.get(method) ?? 0) + performance.now() - begun);
    return result;
  };
  for await (const { snapshot, truth } of cases) {
    const findings = timed(own, () => investigate(snapshot));
    const ranks = new Map([
      [
        own,
        rankIn(
          findings.hypotheses.map(({ node }) => node),
          truth,
        ),
      ],
    ]);
    if (truth.kind === 'fault') {
      Object.entries(baselines).forEach(([method, ranker]) =>
        ranks.set(
          method,
          rankIn(
            timed(method, () => ranker(snapshot)),
            truth,
          ),
        ),
      );
    }
    runs.push({ truth, findings, ranks });
    each?.(runs.length);
  }
  return summed(runs, spent);
}

/** Returns the rank from 0; infinite if no right answer is among them. */
function rankIn(nodes: readonly string[], { nodes: right }: Truth): number {
  const at = nodes.findIndex((node) => right.includes(node));
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

function summed(runs: readonly Run[], spent: ReadonlyMap<string, number>): Table {
  const faults = runs.filter(({ truth }) => truth.kind === 'fault');
  const calm = runs.filter(({ truth }) => truth.kind === 'calm');
  const withheld = runs.filter(({ truth }) => truth.kind === 'withheld');
  const names = ['root_cause', 'suspected'];
  const row = (method: string): Row => {
    const within = (most: number): number =>
      share(faults, ({ ranks }) => ranks.get(method)! < most);
    const each = [1, 2, 3, 4, 5].map(within);
    const timed = method === own ? runs.length : faults.length;
    return {
      method,
      cases: faults.length,
      ac1: within(1),
      ac3: within(3),
      ac5: within(5),
      avg5: each.reduce((sum, value) => sum + value, 0) / 5,
      ms_per_case: (spent.get(method) ?? 0) / Math.max(1, timed),
    };
  };
  return {
    rows: [own, ...Object.keys(baselines)].map(row),
    verdicts: {
      calm: calm.length,
      false_alarms: share(calm, ({ findings }) => names.includes(findings.verdict)),
      withheld: withheld.length,
      insufficient: share(withheld, ({ findings }) => findings.verdict === 'insufficient_data'),
      named: counted(runs.map(({ findings }) => findings.verdict)),
    },
    by_fault: [...new Set(faults.map(({ truth }) => truth.fault))].sort().map((fault) => {
      const these = faults.filter(({ truth }) => truth.fault === fault);
      const right = these.filter(({ ranks }) => ranks.get(own) === 0);
      const category = share(
        right,
        ({ truth, findings }) =>
          truth.categories === undefined ||
          truth.categories.includes(findings.hypotheses[0]!.category),
      );
      return {
        fault,
        cases: these.length,
        ac1: share(these, ({ ranks }) => ranks.get(own)! < 1),
        ac3: share(these, ({ ranks }) => ranks.get(own)! < 3),
        category,
      };
    }),
    reliability: bins.slice(1).map((to, at) => {
      const from = bins[at]!;
      const inside = faults.filter(
        ({ findings: { confidence } }) => confidence.value >= from && confidence.value < to,
      );
      return {
        from,
        to: Math.min(1, to),
        cases: inside.length,
        right: share(inside, ({ ranks }) => ranks.get(own) === 0),
      };
    }),
  };
}

const share = <T>(all: readonly T[], holds: (one: T) => boolean): number =>
  all.length === 0 ? 0 : all.filter(holds).length / all.length;

function counted(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  names.forEach((name) => (counts[name] = (counts[name] ?? 0) + 1));
  return counts;
}

/** The table as a person reads it. */
export function shown({
  rows,
  verdicts,
  by_fault: byFault,
  reliability,
}: Table): readonly string[] {
  const figure = (value: number): string => value.toFixed(2);
  return [
    `${'METHOD'.padEnd(14)} CASES  AC@1  AC@3  AC@5 AVG@5  MS/CASE`,
    ...rows.map(
      (row) =>
        `${row.method.padEnd(14)} ${String(row.cases).padStart(5)}  ${figure(row.ac1)}  ${figure(row.ac3)}  ${figure(row.ac5)}  ${figure(row.avg5)} ${row.ms_per_case.toFixed(1).padStart(8)}`,
    ),
    '',
    ...(verdicts.calm > 0
      ? [
          `nothing broken: ${verdicts.calm} cases, cause named in ${(verdicts.false_alarms * 100).toFixed(1)} %`,
        ]
      : []),
    ...(verdicts.withheld > 0
      ? [
          `evidence withheld: ${verdicts.withheld} cases, "insufficient_data" in ${(verdicts.insufficient * 100).toFixed(1)} %`,
        ]
      : []),
    `verdicts: ${Object.entries(verdicts.named)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    '',
    `${'FAULT'.padEnd(22)} CASES  AC@1  AC@3  CATEGORY`,
    ...byFault.map(
      (one) =>
        `${one.fault.slice(0, 22).padEnd(22)} ${String(one.cases).padStart(5)}  ${figure(one.ac1)}  ${figure(one.ac3)}  ${figure(one.category)}`,
    ),
    '',
    'CONFIDENCE   CASES  RIGHT',
    ...reliability
      .filter(({ cases }) => cases > 0)
      .map(
        ({ from, to, cases, right }) =>
          `${figure(from)} … ${figure(to)}  ${String(cases).padStart(5)}  ${figure(right)}`,
      ),
  ];
}
