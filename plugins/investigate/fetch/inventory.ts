import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { LabelRecord, MetricsQueries } from 'svc/contracts/metricsdb';
import type { SeenDevices } from 'svc/query';
import type { Handle } from 'svc/sdk';

import names from '../conventions/labels.json' with { type: 'json' };
import { errors } from './errors.ts';
import { outcomeLabels } from './outcomes.ts';
import type { Found, Gatherer } from './gatherer.ts';

/** What a metric store holds: each metric with each set of names that its series give to things. */
export interface Inventory {
  /** Id of the evidence; absent where the store did not say. */
  readonly evidence?: string;
  readonly rows: readonly LabelRecord[];
  /** Labels by which each counter tells what failed; absent where the store did not say. */
  readonly outcomes?: ReadonlyMap<string, ReadonlySet<string>>;
}

const halfHour = 1_800_000;
const mostRows = 20_000;
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
    rows: (found?.value ?? []) as readonly LabelRecord[],
    ...(found !== undefined && { evidence: found.id }),
    ...(counted !== undefined && { outcomes: outcomesOf(counted) }),
  };
}

function outcomesOf({ value }: Found): ReadonlyMap<string, ReadonlySet<string>> {
  const labels = new Map<string, Set<string>>();
  for (const { __name__: metric = '', ...own } of value as readonly LabelRecord[]) {
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
    const rows = new Map(
      answers
        .flatMap((answer) => (answer.type === 'vector' ? answer.labels : []))
        .map((labels) => {
          const pairs = Object.entries(labels)
            .filter(([, value]) => value !== '')
            .toSorted(([a], [b]) => (a < b ? -1 : 1));
          return [JSON.stringify(pairs), Object.fromEntries(pairs)] as const;
        }),
    );
    const value = [...rows]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, mostRows)
      .map(([, labels]) => labels);
    const metricNames = new Set(value.map((labels) => labels['__name__']));
    return {
      value,
      digest: { series: value.length, metrics: metricNames.size },
      trust: 'trusted',
      truncated: rows.size > mostRows,
    };
  },
});
