import type { NativeHistogram } from 'svc/native-histogram';
import { labelsKey, type Matcher } from 'svc/query';

import type { VectorSelector } from '../parse/ast.ts';
import { quoted } from '../parse/go-text.ts';
import { executionError } from '../parse/position.ts';
import { printMatcher } from '../parse/print.ts';
import { shownLabels } from './matching.ts';
import { dataTime, place } from './placement.ts';
import { RowBuilder, type VisitBuilt } from './rows.ts';
import type { Grid, Row, Run } from './run.ts';
import type { SelectHints, Series, Visit } from './source.ts';

/** Returns a key that identifies a selector by its matchers. */
export const selectorKey = (matchers: readonly Matcher[]): string =>
  labelsKey(matchers.map(printMatcher).sort());

/** Visits the samples in (mint, maxt] of everything that a selector and the rights of the asker allow. */
export async function eachSelected(
  run: Run,
  { matchers }: VectorSelector,
  mint: number,
  maxt: number,
  hints: SelectHints,
  visit: Visit,
): Promise<void> {
  const all = [...matchers, ...run.enforce];
  const key = selectorKey(matchers);
  if (run.source.scan !== undefined && !run.repeated.has(key)) {
    await run.source.scan(all, mint, maxt, hints, run.budget, visit);
    return;
  }
  const place = labelsKey([key, String(mint), String(maxt)]);
  const known = run.selected.get(place) ?? run.source.select(all, mint, maxt, hints, run.budget);
  run.selected.set(place, known);
  for (const series of await known) {
    await visit(series);
    await run.budget.breathe();
  }
}

/**
 * Requested part of each sample: its value, its time, or only whether there is one. An info metric
 * needs the time too, and has numbers only.
 */
type Wanted = 'value' | 'timestamp' | 'presence' | 'info';

/** The newest sample of each series, not older than the lookback, at each step. */
export async function instantRows(
  run: Run,
  selector: VectorSelector,
  grid: Grid,
  wanted: Exclude<Wanted, 'presence'>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  await eachInstantRow(
    run,
    selector,
    grid,
    wanted,
    (builder, labels, dropName) => void rows.push(builder.take(labels, dropName)!),
  );
  return rows;
}

/** Visits the same rows one after the other, as they stand in their builder. */
export async function eachInstantRow(
  run: Run,
  selector: VectorSelector,
  grid: Grid,
  wanted: Wanted,
  visit: VisitBuilt,
): Promise<void> {
  const placed = place(run, selector);
  const first = dataTime(placed, grid, 0);
  const last = dataTime(placed, grid, grid.count - 1);
  const builder = new RowBuilder(run, grid);
  const advance = placed.at === undefined ? grid.step : 0;
  const steps = { first, advance, count: grid.count, lookback: run.lookbackMs };
  const hints = {
    ...(grid.count === 1
      ? { newest: true }
      : { step: grid.step, windows: { end: first, advance, width: 0, falls: false } }),
    ...(wanted === 'presence' && { timesOnly: true }),
  };
  await eachSelected(run, selector, first - run.lookbackMs, last, hints, (series) => {
    fillNewest(builder, series, steps, wanted);
    if (!builder.isEmpty) {
      visit(builder, series.labels, false);
    }
  });
}

interface Steps {
  readonly first: number;
  readonly advance: number;
  readonly count: number;
  readonly lookback: number;
}

function fillNewest(builder: RowBuilder, series: Series, steps: Steps, wanted: Wanted): void {
  const { first, advance, count, lookback } = steps;
  const { times, values, length, stale, histograms } = series;
  if (histograms === undefined) {
    builder.fill((into, present) => {
      let next = 0;
      for (let step = 0; step < count; step++) {
        const time = first + step * advance;
        while (next < length && times[next]! <= time) {
          next++;
        }
        const newest = next - 1;
        if (
          newest >= 0 &&
          times[newest]! > time - lookback &&
          (stale === undefined || stale[newest] !== 1)
        ) {
          into[step] =
            wanted === 'value'
              ? values[newest]!
              : wanted === 'presence'
                ? 1
                : times[newest]! / 1000;
          present[step] = 1;
        }
      }
    });
    return;
  }
  fillMixed(builder, series, steps, wanted);
}

/** Fills a row from a series that has histograms. */
function fillMixed(
  builder: RowBuilder,
  { labels, times, values, length, stale, histograms }: Series,
  { first, advance, count, lookback }: Steps,
  wanted: Wanted,
): void {
  let next = 0;
  for (let step = 0; step < count; step++) {
    const time = first + step * advance;
    while (next < length && times[next]! <= time) {
      next++;
    }
    const newest = next - 1;
    if (
      newest >= 0 &&
      times[newest]! > time - lookback &&
      !(stale !== undefined && stale[newest] === 1)
    ) {
      const histogram = histograms?.[newest];
      if (histogram !== undefined && wanted !== 'timestamp') {
        if (wanted === 'info') {
          throw executionError(
            `this should be an info metric, with float samples: ${shownLabels(labels, quoted)}`,
          );
        }
        builder.putSample(step, histogram);
      } else {
        builder.put(step, wanted === 'value' ? values[newest]! : times[newest]! / 1000);
      }
    }
  }
}

/** A series without its staleness markers, which ranges do not see. */
export function withoutStale(series: Series): Series {
  const { stale, length, counts } = series;
  if (stale === undefined) {
    return series;
  }
  const times = new Float64Array(length);
  const values = new Float64Array(length);
  const standing = counts && new Float64Array(length);
  const histograms: (NativeHistogram | undefined)[] | undefined = series.histograms && [];
  let kept = 0;
  for (let i = 0; i < length; i++) {
    if (stale[i] !== 1) {
      times[kept] = series.times[i]!;
      histograms?.push(series.histograms![i]);
      if (standing !== undefined) {
        standing[kept] = counts![i]!;
      }
      values[kept++] = series.values[i]!;
    }
  }
  return {
    labels: series.labels,
    times,
    values,
    length: kept,
    ...(standing && { counts: standing }),
    ...(histograms && { histograms }),
  };
}
