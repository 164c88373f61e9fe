import { budget, type Labels, labelsKey, labelValue } from 'svc/query';

import {
  instant,
  type LogBatch,
  type LogEntry,
  type LogSource,
  range,
} from '../../../../plugins/logs/logql/index.ts';
import { type Eval, type LoadedLine, type Pair } from './script.ts';

export interface Points {
  readonly labels: Labels;
  readonly times: readonly number[];
  readonly values: readonly number[];
}

export type Answer =
  | { readonly type: 'scalar'; readonly value: number }
  | { readonly type: 'series'; readonly series: readonly Points[] };

/** 2026-01-01, as in Loki's own runner. */
const epoch = Date.UTC(2026, 0, 1);

/**
 * Returns the time of 0, such that a range begins at a multiple of its step, as its answer does.
 */
function baseOf({ at }: Eval): number {
  if ('instant' in at) {
    return epoch;
  }
  return Math.ceil(epoch / at.step) * at.step - (((at.start % at.step) + at.step) % at.step);
}

/** The engine itself, over lines in memory. Times of answers count from the beginning of the script, as those of questions do. */
export const localEngine = {
  async ask(lines: readonly LoadedLine[], question: Eval): Promise<Answer> {
    const base = baseOf(question);
    const source = sourceOf(lines, base);
    const allowance = budget({ timeoutMs: 60_000, now: () => performance.now() });
    const { query, at } = question;
    const now = (): number => base;
    if ('instant' in at) {
      const found = await instant(source, { query, time: base + at.instant, now }, allowance);
      return found.type === 'scalar'
        ? found
        : {
            type: 'series',
            series: found.samples.map(({ labels, value }) => ({
              labels,
              times: [at.instant],
              values: [value],
            })),
          };
    }
    const { series } = await range(
      source,
      { query, start: base + at.start, end: base + at.end, step: at.step, now },
      allowance,
    );
    return {
      type: 'series',
      series: series.map(({ labels, times, values }) =>
        within(
          { labels, times: [...times].map((time) => time - base), values: [...values] },
          at.end,
        ),
      ),
    };
  },
};

/** An answer may have one step more than the question, behind its end. */
function within({ labels, times, values }: Points, end: number): Points {
  return {
    labels,
    times: times.filter((time) => time <= end),
    values: values.filter((_, index) => times[index]! <= end),
  };
}

function sourceOf(lines: readonly LoadedLine[], base: number): LogSource {
  const streams = new Map<string, { labels: Labels; entries: LogEntry[] }>();
  for (const { stream, text, start, step, count, metadata } of lines) {
    const labels = flat(stream);
    const known = streams.get(labelsKey(labels)) ?? { labels, entries: [] };
    streams.set(labelsKey(labels), known);
    for (let i = 0; i < count; i++) {
      known.entries.push({
        ms: base + start + i * step,
        ns: 0,
        line: text.replaceAll('{{.i}}', String(i)),
        ...(metadata.length > 0 && { metadata: flat(metadata) }),
      });
    }
  }
  return {
    async *select(matchers, from, to, { contains = [] }, allowance) {
      for (const { labels, entries } of streams.values()) {
        if (matchers.every(({ name, matches }) => matches(labelValue(labels, name)))) {
          const inside = entries
            .filter(
              ({ ms, ns, line }) =>
                (ms - from.ms || ns - from.ns) >= 0 &&
                (ms - to.ms || ns - to.ns) < 0 &&
                contains.every((text) => line.includes(text)),
            )
            .sort((a, b) => a.ms - b.ms);
          allowance.bytes(inside.length);
          yield { labels, entries: inside } satisfies LogBatch;
        }
      }
    },
  };
}

/** Unlike `labelsOf`, keeps labels without a value, which metadata may be. */
export const flat = (pairs: readonly Pair[]): Labels =>
  pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, value]) => [name, value]);
