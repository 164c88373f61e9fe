import { budget, labelValue, metricName, type Matcher } from 'svc/query';
import {
  attemptBlock,
  type BlockDescription,
  type BlockRow,
  type Catalogue,
  rowFor,
} from 'svc/store';

import { isCounterName } from '../../promql/range/counter-name.ts';
import type { SelectHints } from '../../promql/vector/source.ts';
import { Samples } from '../columns/samples.ts';
import { BlockBuilder } from './block-builder.ts';
import { rawLevel, windowsOfLevel } from './block-layout.ts';
import { isThinnedOf, metaOf, spansOf } from './block-meta.ts';
import { type BlockReader, type Lost } from './block-reader.ts';
import { type Blocks } from './blocks.ts';
import { nextBlockName } from './catalogue-schema.ts';
import { thin } from './thinning.ts';

const dayMs = 24 * 3_600_000;

/** The coarsest thinning from which the answer is the same as from all samples; none when it takes them all. */
export function levelFor({ windows }: SelectHints, matchers: readonly Matcher[]): number {
  if (
    windows === undefined ||
    (windows.falls &&
      !matchers.some(
        ({ name, op, value }) => name === metricName && op === '=' && isCounterName(value),
      ))
  ) {
    return rawLevel;
  }
  const { end, advance, width } = windows;
  const exact = [...windowsOfLevel].filter(
    ([, ms]) => end % ms === 0 && advance % ms === 0 && width % ms === 0,
  );
  return exact.at(-1)?.[0] ?? rawLevel;
}

/** Returns thinned blocks made of these. */
export function thinnedOf(
  rows: readonly BlockRow[],
  ids: ReadonlySet<number>,
): readonly BlockRow[] {
  const wholes = rows.filter(({ id }) => ids.has(id));
  return rows.filter((row) => wholes.some((whole) => isThinnedOf(row, whole)));
}

/** Returns whether no other block overlaps with this one; only then are thinned samples exact. */
export const standsAlone = (row: BlockRow, rows: readonly BlockRow[]): boolean => {
  const own = spansOf(row);
  return rows.every(
    (other) =>
      other === row ||
      other.level !== rawLevel ||
      other.mint > row.maxt ||
      other.maxt < row.mint ||
      !meet(own, spansOf(other)),
  );
};

function meet(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0, k = 0; i < a.length && k < b.length;) {
    if (a[i + 1]! < b[k]!) {
      i += 2;
    } else if (b[k + 1]! < a[i]!) {
      k += 2;
    } else {
      return true;
    }
  }
  return false;
}

/** Returns the smallest blocks, no coarser than `level`, that cover (mint, maxt]. */
export function briefest(
  rows: readonly BlockRow[],
  level: number,
  mint: number,
  maxt: number,
  isInHead: (row: BlockRow) => boolean,
): readonly BlockRow[] {
  const thinned = new Map(
    rows
      .filter((row) => row.level !== rawLevel && row.level <= level && row.damaged === 0)
      .sort((a, b) => a.level - b.level)
      .map((row) => [metaOf(row).of, row]),
  );
  const briefOf = ({ id, file }: BlockRow): BlockRow | undefined =>
    thinned.get(file) ?? thinned.get(id);
  return rows
    .filter((row) => row.level === rawLevel && row.mint <= maxt && row.maxt > mint)
    .map((row) => {
      const brief = briefOf(row);
      return brief !== undefined && standsAlone(row, rows) && !isInHead(row) ? brief : row;
    });
}

export interface Rollup {
  readonly row: BlockRow;
  readonly level: number;
}

/** Returns a block of a completed day, old enough to have been merged, and its next thinning. */
export function rollupPlan(rows: readonly BlockRow[], newest: number): Rollup | undefined {
  const today = Math.floor((newest - dayMs / 4) / dayMs) * dayMs;
  const done = new Set(
    rows.filter(({ level }) => level !== rawLevel).map((row) => `${metaOf(row).of} ${row.level}`),
  );
  for (const level of windowsOfLevel.keys()) {
    const row = rows.find(
      (one) =>
        one.level === rawLevel &&
        one.damaged === 0 &&
        one.maxt < today &&
        !done.has(`${one.file} ${level}`) &&
        !done.has(`${one.id} ${level}`) &&
        standsAlone(one, rows),
    );
    if (row !== undefined) {
      return { row, level };
    }
  }
  return undefined;
}

/** Writes the thin block of a whole one; answers whether it did. */
export async function rollUp(
  catalogue: Catalogue,
  blocks: Blocks,
  { row, level }: Rollup,
  now: () => number,
): Promise<boolean> {
  const windowMs = windowsOfLevel.get(level)!;
  const taken = blocks.hold([row]);
  try {
    const series = blocks.whole(row, ({ directory }) => directory.series);
    if (series === undefined) {
      return false;
    }
    const pause = budget({ timeoutMs: Infinity });
    const [all, few] = [new Samples(), new Samples()];
    let description: BlockDescription | undefined;
    const written = await attemptBlock(
      catalogue.blocksFolder,
      nextBlockName(catalogue.db, 'thin'),
      async (writer) => {
        const builder = new BlockBuilder(writer);
        for (let number = 0; number < series; number++) {
          const isAdded = blocks.whole(row, (reader, lost) =>
            addThinned({ reader, lost, windowMs, all, few, builder }, number),
          );
          if (isAdded !== true) {
            return false;
          }
          await pause.breathe();
        }
        builder.finish(({ samples, mint, maxt }) => {
          const meta = JSON.stringify({ of: row.file, series, written: now() });
          return (description = {
            level,
            mint,
            maxt,
            rows: samples,
            meta,
            replaces: [],
            store: {},
          });
        });
        return true;
      },
    );
    if (written === undefined || description === undefined) {
      return false;
    }
    const made = catalogue.blocks.add(rowFor(written, description));
    if (!catalogue.blocks.list().some(({ id }) => id === row.id)) {
      catalogue.blocks.remove([made.id]);
      return false;
    }
    blocks.refresh();
    return true;
  } finally {
    taken.done();
  }
}

interface Thinning {
  readonly reader: BlockReader;
  readonly lost: Lost;
  readonly windowMs: number;
  readonly all: Samples;
  readonly few: Samples;
  readonly builder: BlockBuilder;
}

function addThinned({ reader, lost, windowMs, all, few, builder }: Thinning, number: number): true {
  reader.read(number, -Infinity, Infinity, all.clear(), lost);
  const labels = reader.labels(number);
  const { length } = thin(
    all.settle(),
    windowMs,
    isCounterName(labelValue(labels, metricName)),
    few,
  );
  builder.add(labels, few, 0, length);
  return true;
}
