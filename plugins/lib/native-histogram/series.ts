import { combined } from './arithmetic.ts';
import type { NativeHistogram } from './histogram.ts';
import { type Noted, readHistogram } from './notation.ts';

/** Splits the values of a series in a rule test into items; a `{{…}}` is one item. */
export const splitValues = (text: string): readonly string[] =>
  text.match(/(?:\{\{[^}]*\}\}|\S)+/g) ?? [];

const run = /^(\{\{[^}]*\}\})(?:([+-])(\{\{[^}]*\}\}))?(?:x(\d{1,9}))?$/;

/** Returns the cost of keeping a histogram. */
export const weightOf = ({ positive, negative, bounds }: NativeHistogram): number =>
  1 + positive.length + negative.length + bounds.length;

/** Parses `{{…}}`, `{{…}}x3` or `{{…}}+{{…}}x3` into histograms, or returns what is wrong. */
export function readHistogramRun(
  item: string,
  maxWeight: number,
): { readonly histograms: readonly NativeHistogram[]; readonly hinted: boolean } | string {
  const [, first, sign, step, count] = run.exec(item) ?? [];
  if (first === undefined || (step !== undefined && count === undefined)) {
    return `holds ${item.slice(0, 60)}, which is not of the form {{…}}, {{…}}x3 or {{…}}+{{…}}x3`;
  }
  const start = readHistogram(first);
  const change = step === undefined ? undefined : readHistogram(step);
  if (typeof start === 'string' || typeof change === 'string') {
    return typeof start === 'string' ? start : (change as string);
  }
  const times = Number(count ?? 0);
  const weight = Math.max(
    weightOf(start.histogram),
    change === undefined ? 0 : weightOf(change.histogram),
  );
  if ((times + 1) * weight > maxWeight) {
    return `stands for too many buckets: ${times + 1} histograms of ${weight}, where ${maxWeight} are left`;
  }
  const { hinted } = change ?? start;
  return change === undefined
    ? { histograms: Array.from({ length: times + 1 }, () => start.histogram), hinted }
    : stepwise(start, change, sign === '-' ? -1 : 1, times);
}

function stepwise(
  start: Noted,
  { histogram: change, hinted }: Noted,
  sign: 1 | -1,
  times: number,
): ReturnType<typeof readHistogramRun> {
  const histograms = [start.histogram];
  for (let last = start.histogram; histograms.length <= times; histograms.push(last)) {
    const next = last.schema > change.schema ? undefined : combined(last, change, sign);
    if (next === undefined) {
      return `adds a histogram of schema ${change.schema} to one of schema ${last.schema}, which has finer buckets or custom ones`;
    }
    last = next.value;
  }
  return { histograms, hinted };
}
