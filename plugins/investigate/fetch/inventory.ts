import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { LabelRecord, MetricsQueries } from 'svc/contracts/metricsdb';
import { inTurns } from 'svc/flow';
import type { SeenDevices } from 'svc/query';
import type { Handle } from 'svc/sdk';

import names from '../conventions/labels.json' with { type: 'json' };
import { errors } from './errors.ts';
import { outcomeLabels } from './outcomes.ts';
import type { Found, Gatherer } from './gatherer.ts';

/** Content of a metric store: each metric with each set of names that its series give to things. */
export interface Inventory {
  /** Id of the evidence; absent where the store did not say. */
  readonly evidence?: string;
  readonly rows: readonly LabelRecord[];
  /** Labels by which each counter tells what failed; absent where the store did not say. */
  readonly outcomes?: ReadonlyMap<string, ReadonlySet<string>>;
}

const halfHour = 1_800_000;
const mostThings = 20_000;
/** Sets of names as they are kept: many metrics have the same. */
type Things = readonly { readonly labels: LabelRecord; readonly metrics: readonly string[] }[];

const patience = { timeoutMs: 6_000, maxSamples: 5_000_000 };

/** Labels by which things are named, and those by which their peers are. */
const identifying = [...new Set(Object.values(names).flat())].toSorted();

export const inventoryQuery = `group by (__name__, ${identifying.join(', ')}) ({__name__!=""})`;

export const outcomesQuery = `group by (__name__, ${outcomeLabels.join(', ')}) ({__name__=~".+_(?:total|count|requests|calls|rq_xx)|calls"})`;

/** Asks what is measured, of what, at the alert and half an hour before it: what has stopped coming is in it, too. */
export async function inventoryOf(gatherer: Gatherer, firedAt: number): Promise<Inventory> {
  const [found, counted] = await Promise.all(
    [inventoryQuery, outcomesQuery].map((query) =>
      gatherer.ask({
        kind: 'topology',
        source: 'inventory',
        query,
        window: { from: firedAt - halfHour, to: firedAt },
      }),
    ),
  );
  return {
    rows: rowsOf(found),
    ...(found !== undefined && { evidence: found.id }),
    ...(counted !== undefined && { outcomes: outcomesOf(counted) }),
  };
}

const rowsOf = (found: Found | undefined): readonly LabelRecord[] =>
  ((found?.value ?? []) as Things).flatMap(({ labels, metrics }) =>
    metrics.map((__name__) => ({ ...labels, __name__ })),
  );

function outcomesOf(found: Found): ReadonlyMap<string, ReadonlySet<string>> {
  const labels = new Map<string, Set<string>>();
  for (const { __name__: metric = '', ...own } of rowsOf(found)) {
    const known = labels.get(metric) ?? new Set();
    Object.keys(own).forEach((label) => known.add(label));
    labels.set(metric, known);
  }
  return labels;
}

/** PromQL at the two ends of a window: every set of labels that either has. */
export const inventorySource = (
  metrics: Handle<MetricsQueries>,
  seen: SeenDevices,
): EvidenceSource => ({
  async ask({ query, window }: Question, signal: AbortSignal): Promise<Answer> {
    if (!metrics.available) {
      throw errors.metrics_away();
    }
    const store = metrics.get();
    const options = { ...patience, signal, ...(seen && { enforce: seen.enforce }) };
    const answers = await Promise.all(
      [window.from, window.to].map((time) => store.instant(query, time, options)),
    );
    const things = new Map<
      string,
      { readonly labels: LabelRecord; readonly metrics: Set<string> }
    >();
    let rows = 0;
    await inTurns(
      answers.flatMap((answer) => (answer.type === 'vector' ? answer.labels : [])),
      ({ __name__: metric = '', ...own }) => {
        const pairs = Object.entries(own)
          .filter(([, value]) => value !== '')
          .toSorted(([a], [b]) => (a < b ? -1 : 1));
        const key = JSON.stringify(pairs);
        const thing = things.get(key) ?? { labels: Object.fromEntries(pairs), metrics: new Set() };
        things.set(key, thing);
        rows += thing.metrics.has(metric) ? 0 : 1;
        thing.metrics.add(metric);
      },
    );
    const value: Things = [...things]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, mostThings)
      .map(([, { labels, metrics: own }]) => ({ labels, metrics: [...own].toSorted() }));
    const metricNames = new Set(value.flatMap(({ metrics: some }) => some));
    return {
      value,
      digest: { series: rows, things: value.length, metrics: metricNames.size },
      trust: 'trusted',
      truncated: things.size > mostThings,
    };
  },
});
