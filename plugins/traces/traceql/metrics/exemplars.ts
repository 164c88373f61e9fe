import type { Hints } from '../parse/ast.ts';
import type { Attribute } from '../spans/span.ts';
import type { TraceView } from '../spans/trace-view.ts';

/** A span behind a number, with what leads to it. */
export interface Exemplar {
  readonly labels: readonly Attribute[];
  readonly timeMs: number;
  /** Value; undefined if the function measures nothing: the value of the series replaces it. */
  readonly value: number | undefined;
  readonly slot: number;
}

const maxPerSlot = 2;
/** Default and max number of exemplars, as in Tempo. */
const usualExemplars = 100;

/** Picks the spans to show with the numbers: at most one per trace, and few at any one time. */
export class ExemplarPicker {
  readonly #most: number;
  readonly #traces = new Set<string>();
  readonly #perSlot = new Map<number, number>();

  constructor(most: number) {
    this.#most = most;
  }

  pick(
    view: TraceView,
    index: number,
    slot: number,
    value: number | undefined,
  ): Exemplar | undefined {
    const sofar = this.#perSlot.get(slot) ?? 0;
    if (this.#traces.size >= this.#most || sofar >= maxPerSlot || this.#traces.has(view.traceId)) {
      return undefined;
    }
    this.#traces.add(view.traceId);
    this.#perSlot.set(slot, sofar + 1);
    const span = view.spans[index]!;
    const text = (key: string, said: string): Attribute => ({
      key,
      value: { type: 'string', value: said },
    });
    return {
      labels: [
        text('trace:id', view.traceId),
        text('span:id', span.id),
        text('name', span.name),
        { key: 'duration', value: { type: 'duration', value: span.durationNs } },
      ],
      timeMs: span.startMs,
      value,
      slot,
    };
  }
}

/**
 * Returns how many are shown: the hint of the query takes precedence over the parameter of the
 * call.
 */
export function exemplarsOf(hints: Hints, called = 0): number {
  const asked = hints.exemplars ?? called;
  return Math.min(usualExemplars, typeof asked === 'number' ? asked : asked ? usualExemplars : 0);
}
