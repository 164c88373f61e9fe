import { budget, labelValue, metricName, writeBlock, type BlockRow, type Catalogue, type Matcher } from 'svc/telemetry';

import { isCounterName } from '../promql/counter-name.ts';
import type { SelectHints } from '../promql/source.ts';
import { BlockBuilder, type Finished } from './block-builder.ts';
import { rawLevel, sliceOf, thinLevel } from './block-layout.ts';
import { type BlockReader } from './block-reader.ts';
import { type Blocks } from './blocks.ts';
import { nextBlockName } from './catalogue-schema.ts';
import { Samples } from './samples.ts';
import { thin, windowMs } from './thinning.ts';

const dayMs = 24 * 3_600_000;

/** Whether the answer is the same from thinned samples as from all of them. */
export function mayBeThinned({ windows }: SelectHints, matchers: readonly Matcher[]): boolean {
  if (windows === undefined) {
    return false;
  }
  const { end, advance, width, falls } = windows;
  const whole = end % windowMs === 0 && advance % windowMs === 0 && width % windowMs === 0;
  return whole && (!falls || matchers.some(({ name, op, value }) => name === metricName && op === '=' && isCounterName(value)));
}

/** What the row of a block tells besides its columns: `spans` of a whole one, and of a thin one the id of the whole one. */
interface Meta {
  readonly spans?: readonly number[];
  readonly of?: number;
}

const metaOf = ({ meta }: BlockRow): Meta => JSON.parse(meta) as Meta;

/** Thin blocks that were made of these. */
export const thinnedOf = (rows: readonly BlockRow[], ids: ReadonlySet<number>): readonly BlockRow[] =>
  rows.filter((row) => row.level === thinLevel && ids.has(metaOf(row).of!));

/** Whether no other block has samples where this one has; only then thinned samples are exact. */
export const standsAlone = (row: BlockRow, rows: readonly BlockRow[]): boolean => {
  const own = spansOf(row);
  return rows.every((other) => other === row || other.level !== rawLevel || other.mint > row.maxt || other.maxt < row.mint || !meet(own, spansOf(other)));
};

const spansOf = (row: BlockRow): readonly number[] => metaOf(row).spans ?? [sliceOf(row.mint), sliceOf(row.maxt)];

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

/** The blocks that tell most briefly what was in (mint, maxt]. */
export function briefest(rows: readonly BlockRow[], mint: number, maxt: number, isInHead: (row: BlockRow) => boolean): readonly BlockRow[] {
  const thinned = new Map(rows.filter(({ level, damaged }) => level === thinLevel && damaged === 0).map((row) => [metaOf(row).of, row]));
  return rows
    .filter((row) => row.level === rawLevel && row.damaged === 0 && row.mint <= maxt && row.maxt > mint)
    .map((row) => {
      const brief = thinned.get(row.id);
      return brief !== undefined && standsAlone(row, rows) && !isInHead(row) ? brief : row;
    });
}

/** A block of a day that is over, long enough for it to have become one, and that has no thin one yet. */
export function rollupPlan(rows: readonly BlockRow[], newest: number): BlockRow | undefined {
  const today = Math.floor((newest - dayMs / 4) / dayMs) * dayMs;
  const done = new Set(rows.filter(({ level }) => level === thinLevel).map((row) => metaOf(row).of));
  return rows.find((row) => row.level === rawLevel && row.damaged === 0 && row.maxt < today && !done.has(row.id) && standsAlone(row, rows));
}

/** Writes the thin block of a whole one; answers whether it did. */
export async function rollUp(catalogue: Catalogue, blocks: Blocks, row: BlockRow, now: () => number): Promise<boolean> {
  const taken = blocks.hold([row]);
  try {
    const series = blocks.from(row, ({ directory }) => directory.series);
    if (series === undefined) {
      return false;
    }
    const pause = budget({ timeoutMs: Infinity, now });
    const [all, few] = [new Samples(), new Samples()];
    let found: Finished | undefined;
    let whole = true;
    const { file, bytes } = await writeBlock(catalogue.blocksFolder, nextBlockName(catalogue.db, 'thin'), async (writer) => {
      const builder = new BlockBuilder(writer);
      for (let number = 0; number < series && whole; number++) {
        whole = blocks.from(row, (reader) => addThinned(reader, number, all, few, builder)) === true;
        await pause.breathe();
      }
      found = builder.finish();
    });
    const { samples, mint, maxt } = found!;
    const made = catalogue.blocks.add({
      file,
      level: thinLevel,
      mint,
      maxt,
      bytes,
      rows: samples,
      meta: JSON.stringify({ of: row.id, series, written: now() }),
    });
    if (!whole || !catalogue.blocks.list().some(({ id }) => id === row.id)) {
      catalogue.blocks.remove([made.id]);
      return false;
    }
    blocks.refresh();
    return true;
  } finally {
    taken.done();
  }
}

function addThinned(reader: BlockReader, number: number, all: Samples, few: Samples, builder: BlockBuilder): true {
  reader.read(number, -Infinity, Infinity, all.clear());
  const labels = reader.labels(number);
  const { length } = thin(all.settle(), isCounterName(labelValue(labels, metricName)), few);
  builder.add(labels, few, 0, length);
  return true;
}
