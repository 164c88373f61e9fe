import type { CompareStage } from '../parse/ast.ts';
import { compileField, compileTest } from '../search/field.ts';
import { keyOf } from '../search/values.ts';
import type { Attribute, Value } from '../spans/span.ts';
import type { TraceView } from '../spans/trace-view.ts';
import type { SeriesBound } from './series-bound.ts';

/** Max values of one attribute; further ones count in its total only. */
const maxValues = 1_000;
const maxAttributes = 2_000;
const metaType = '__meta_type';
const nil: Value = { type: 'string', value: 'nil' };

const intrinsics = (
  [
    'name',
    'status',
    'statusMessage',
    'kind',
    'rootName',
    'rootServiceName',
    'instrumentation:name',
    'instrumentation:version',
  ] as const
).map((intrinsic) => ({
  key: intrinsic,
  evaluate: compileField({ kind: 'intrinsic', intrinsic, text: intrinsic }),
}));

export interface ComparedSeries {
  readonly labels: readonly Attribute[];
  /** Values by slot; none if the series only indicates that there is more. */
  readonly values: Float64Array;
}

interface Counted {
  readonly total: Float64Array;
  readonly values: Map<string, { readonly value: Value; readonly counts: Float64Array }>;
  tooMany: boolean;
}

/** `compare({…})`: how often each value of each attribute occurs among the spans that are selected, and among the others. */
export class Comparison {
  readonly #slots: number;
  readonly #top: number;
  readonly #bound: SeriesBound;
  readonly #selected: (view: TraceView, index: number) => boolean;
  readonly #sides = { baseline: new Map<string, Counted>(), selection: new Map<string, Counted>() };

  constructor({ selection, top, startNs, endNs }: CompareStage, slots: number, bound: SeriesBound) {
    const test = selection === undefined ? () => true : compileTest(selection);
    const within =
      startNs === undefined || endNs === undefined
        ? () => true
        : (at: bigint) => at > startNs && at <= endNs;
    this.#slots = slots;
    this.#top = top;
    this.#bound = bound;
    this.#selected = (view, index) => within(view.spans[index]!.startNs) && test(view, index);
  }

  add(view: TraceView, index: number, slot: number): void {
    const side = this.#selected(view, index) ? this.#sides.selection : this.#sides.baseline;
    const span = view.spans[index]!;
    for (const { key, evaluate } of intrinsics) {
      this.#count(side, key, evaluate(view, index), slot);
    }
    this.#countAll(side, 'span', span.attributes, slot);
    this.#countAll(side, 'resource', span.resource, slot);
    this.#countAll(side, 'instrumentation', span.scope.attributes, slot);
    span.events.forEach(({ attributes }) => this.#countAll(side, 'event', attributes, slot));
    span.links.forEach(({ attributes }) => this.#countAll(side, 'link', attributes, slot));
  }

  /** The most frequent values of each side with their counts, the totals of each attribute, and which attributes have more values than that. */
  series(): ComparedSeries[] {
    const series: ComparedSeries[] = [];
    const cut = new Set<string>();
    for (const [name, side] of Object.entries(this.#sides)) {
      for (const [key, { total, values, tooMany }] of side) {
        const order = [...values.values()]
          .map((one) => ({ ...one, sum: sumOf(one.counts) }))
          .sort((a, b) => b.sum - a.sum);
        order
          .slice(0, this.#top)
          .forEach(({ value, counts }) =>
            series.push({ labels: [meta(name), { key, value }], values: counts }),
          );
        series.push({ labels: [meta(`${name}_total`), { key, value: nil }], values: total });
        if (tooMany || order.length > this.#top) {
          cut.add(key);
        }
      }
    }
    for (const key of cut) {
      series.push({
        labels: [
          { key: '__meta_error', value: { type: 'string', value: '__too_many_values__' } },
          { key, value: nil },
        ],
        values: new Float64Array(0),
      });
    }
    return series;
  }

  #countAll(
    side: Map<string, Counted>,
    scope: string,
    attributes: readonly Attribute[],
    slot: number,
  ): void {
    for (const { key, value } of attributes) {
      this.#count(side, `${scope}.${key}`, value, slot);
    }
  }

  #count(side: Map<string, Counted>, key: string, value: Value | undefined, slot: number): void {
    if (value === undefined || value.type === 'duration') {
      return;
    }
    let counted = side.get(key);
    if (counted === undefined) {
      if (side.size >= maxAttributes) {
        return;
      }
      counted = { total: this.#fresh(), values: new Map(), tooMany: false };
      side.set(key, counted);
    }
    counted.total[slot]! += 1;
    const valueKey = keyOf(value);
    let known = counted.values.get(valueKey);
    if (known === undefined) {
      if (counted.values.size >= maxValues) {
        counted.tooMany = true;
        return;
      }
      known = { value, counts: this.#fresh() };
      counted.values.set(valueKey, known);
    }
    known.counts[slot]! += 1;
  }

  #fresh(): Float64Array {
    this.#bound.rows(1);
    return new Float64Array(this.#slots);
  }
}

const meta = (type: string): Attribute => ({
  key: metaType,
  value: { type: 'string', value: type },
});
const sumOf = (counts: Float64Array): number => counts.reduce((sum, count) => sum + count, 0);
