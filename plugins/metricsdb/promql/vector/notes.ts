import { generalFloat, quoted } from '../parse/go-text.ts';
import { lineAndColumn } from '../parse/position.ts';

interface Note {
  readonly info: boolean;
  position: number;
  readonly forced?: Forced;
}

/** Buckets that had to be made monotonic, over all steps and series of one query. */
interface Forced {
  readonly buckets: [least: number, most: number];
  readonly times: [first: number, last: number];
  difference: number;
  count: number;
}

/** Remarks that accompany an answer. Equal remarks are kept once, for the latest position. */
export class Notes {
  readonly #notes = new Map<string, Note>();

  warn(position: number, text: string): void {
    this.#notes.set(`PromQL warning: ${text}`, { info: false, position });
  }

  inform(position: number, text: string): void {
    this.#notes.set(`PromQL info: ${text}`, { info: true, position });
  }

  quantile(position: number, q: number): void {
    this.warn(position, `quantile value should be between 0 and 1, got ${generalFloat(q)}`);
  }

  badBucket(position: number, bound: string, name: string): void {
    this.warn(
      position,
      `bucket label "le" is missing or has a malformed value of ${quoted(bound)}${forName(name)}`,
    );
  }

  forcedMonotonic(
    position: number,
    name: string,
    time: number,
    least: number,
    most: number,
    difference: number,
  ): void {
    const key = `PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)${forName(name)}`;
    const note = this.#notes.get(key);
    const forced = note?.forced;
    if (note === undefined || forced === undefined) {
      this.#notes.set(key, {
        info: true,
        position,
        forced: { buckets: [least, most], times: [time, time], difference, count: 1 },
      });
      return;
    }
    note.position = position;
    forced.buckets[0] = Math.min(forced.buckets[0], least);
    forced.buckets[1] = Math.max(forced.buckets[1], most);
    forced.times[0] = Math.min(forced.times[0], time);
    forced.times[1] = Math.max(forced.times[1], time);
    forced.difference = Math.max(forced.difference, difference);
    forced.count++;
  }

  /** Returns the remarks with their positions in the query. */
  lists(query: string): { readonly warnings: string[]; readonly infos: string[] } {
    const warnings: string[] = [];
    const infos: string[] = [];
    for (const [text, { info, position, forced }] of this.#notes) {
      (info ? infos : warnings).push(
        `${text}${forced === undefined ? '' : describeForced(forced)} (${lineAndColumn(query, position)})`,
      );
    }
    return { warnings, infos };
  }
}

const forName = (name: string): string => (name === '' ? '' : ` for metric name ${quoted(name)}`);

const wholeSeconds = (ms: number): string =>
  `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;

function describeForced({ buckets, times, difference, count }: Forced): string {
  return `, from buckets ${generalFloat(buckets[0])} to ${generalFloat(buckets[1])}, with a max diff of ${generalFloat(difference, 2)}, over ${count} samples from ${wholeSeconds(times[0])} to ${wholeSeconds(times[1])}`;
}
