import { labelValue } from 'svc/query';

import type { RangeVector, Samples } from '../range/range-vector.ts';
import { marksOf, type RangeFunction, Window } from '../range/window.ts';
import { dataTime } from '../vector/placement.ts';
import type { RowBuilder } from '../vector/rows.ts';
import { type Grid, pace, type Run, timeAt } from '../vector/run.ts';
import { withNativeEdges } from './edges.ts';
import { NativeNotes } from './notes.ts';
import { nativeFunctions, samplesIn } from './range.ts';

export interface Sliding {
  readonly run: Run;
  readonly grid: Grid;
  readonly vector: RangeVector;
  readonly name: string;
  readonly func: RangeFunction;
  readonly scalars: readonly Float64Array[];
  readonly builder: RowBuilder;
  readonly check: ((window: Window) => void) | undefined;
}

/** Moves the range over a series with histograms. Where a function knows nothing of them, it gets the numbers among them. */
export async function slideMixed(
  { run, grid, vector, name, func, scalars, builder, check }: Sliding,
  series: Samples,
): Promise<boolean> {
  const { times, values, length, histograms } = series;
  const numbers = [...values.subarray(0, length).keys()].filter(
    (index) => histograms![index] === undefined,
  );
  const own = {
    times: Float64Array.from(numbers, (index) => times[index]!),
    values: Float64Array.from(numbers, (index) => values[index]!),
  };
  const window = new Window(
    own.times,
    own.values,
    marksOf(own.values, numbers.length, func.breaks?.bind(func)),
  );
  const notes = new NativeNotes(run.notes, vector.position);
  const metric = labelValue(series.labels, '__name__');
  const paced = pace(run);
  let [from, to] = [0, 0];
  let numbersSeen = false;
  const before = vector.range + (vector.edges === undefined ? 0 : run.lookbackMs);
  const after = vector.edges === 'smoothed' ? run.lookbackMs : 0;
  window.range = vector.range;
  for (let step = 0; step < grid.count; step++) {
    const end = dataTime(vector, grid, step);
    while (to < length && times[to]! <= end + after) {
      to++;
    }
    while (from < to && times[from]! <= end - before) {
      from++;
    }
    window.from = firstAbove(own.times, window.from, end - before);
    window.to = firstAbove(own.times, window.to, end + after);
    const count = window.to - window.from;
    Object.assign(window, {
      start: end - vector.range,
      end,
      time: timeAt(grid, step),
      a: scalars[0]?.[step] ?? 0,
      b: scalars[1]?.[step] ?? 0,
    });
    const native = nativeFunctions[name];
    if (to - from > count && native !== undefined) {
      const range = {
        samples: samplesIn(series, from, to),
        start: window.start,
        end,
        name: metric,
        notes,
      };
      const result =
        vector.edges === undefined ? native(range) : withNativeEdges(name, vector.edges, range);
      if (result !== undefined) {
        builder.putSample(step, result);
      }
    } else {
      if (to - from > count && count > 0) {
        notes.ignoredInRange(metric);
      }
      if (count >= func.least) {
        check?.(window);
        const value = func.compute(window);
        if (value !== undefined) {
          builder.put(step, value);
          numbersSeen = true;
        }
      }
    }
    await paced((to - from + 1) * 8);
  }
  return numbersSeen;
}

function firstAbove(times: Float64Array, from: number, time: number): number {
  let index = from;
  while (index < times.length && times[index]! <= time) {
    index++;
  }
  return index;
}
