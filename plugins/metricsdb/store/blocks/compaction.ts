import { budget, compareLabels, labelValue, metricName, type Labels } from 'svc/query';
import {
  attemptBlock,
  type BlockDescription,
  type BlockRow,
  type Catalogue,
  type NewBlock,
  rowFor,
} from 'svc/store';

import { Samples } from '../columns/samples.ts';
import { BlockBuilder } from './block-builder.ts';
import { describedRaw } from './block-content.ts';
import { sliceOf } from './block-layout.ts';
import { type BlockReader, type Lost } from './block-reader.ts';
import { type Blocks } from './blocks.ts';
import { nextBlockName, positionIn } from './catalogue-schema.ts';
import { thinnedOf } from './rollup.ts';

const dayMs = 24 * 3_600_000;
/**
 * Number of blocks with the same start window that are merged into one: the remains of late and old
 * samples.
 */
const crowd = 4;
/** Max samples merged at once; more would block the thread for too long. */
const maxSamples = 300_000_000;
const maxBlocks = 32;

/**
 * Returns blocks to merge, or none: first those that crowd one window, then those of a completed
 * day.
 */
export function compactionPlan(rows: readonly BlockRow[], newest: number): readonly BlockRow[] {
  const whole = rows.filter(
    ({ level, damaged, rows: samples }) => level === 0 && damaged === 0 && samples < maxSamples / 2,
  );
  const crowded = firstGroup(whole, ({ mint }) => sliceOf(mint), crowd);
  return crowded.length > 0
    ? crowded
    : firstGroup(
        whole.filter(
          ({ mint, maxt }) =>
            Math.floor(mint / dayMs) === Math.floor(maxt / dayMs) &&
            maxt < newest - dayMs / 4 &&
            Math.floor(maxt / dayMs) < Math.floor(newest / dayMs),
        ),
        ({ mint }) => Math.floor(mint / dayMs),
        2,
      );
}

function firstGroup(
  rows: readonly BlockRow[],
  keyOf: (row: BlockRow) => number,
  least: number,
): readonly BlockRow[] {
  const groups = new Map<number, BlockRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    (groups.get(key) ?? groups.set(key, []).get(key)!).push(row);
  }
  const group = [...groups.values()].find(({ length }) => length >= least) ?? [];
  let samples = 0;
  const taken = group.slice(0, maxBlocks).filter((row) => (samples += row.rows) <= maxSamples);
  return taken.length >= 2 ? taken : [];
}

interface Source {
  readonly row: BlockRow;
  readonly reader: BlockReader;
  next: number;
  labels: Labels | undefined;
}

/** Merges several blocks into one and replaces them; returns whether it did. */
export async function compact(
  catalogue: Catalogue,
  blocks: Blocks,
  rows: readonly BlockRow[],
  now: () => number,
): Promise<boolean> {
  const taken = blocks.hold(rows);
  try {
    const sources = rows.flatMap(
      (row) =>
        blocks.whole(row, (reader): Source => ({
          row,
          reader,
          next: 0,
          labels: reader.directory.series > 0 ? reader.labels(0) : undefined,
        })) ?? [],
    );
    if (sources.length < rows.length) {
      return false;
    }
    const ids = rows.map(({ id }) => id);
    const gone = [...rows, ...thinnedOf(blocks.list(), new Set(ids))];
    const replaces = gone.map(({ file }) => file);
    const merged = await merge({ catalogue, blocks, sources, replaces, now });
    if (merged === undefined) {
      return false;
    }
    catalogue.blocks.replace(
      gone.map(({ id }) => id),
      [merged],
    );
    blocks.refresh();
    return true;
  } finally {
    taken.done();
  }
}

interface Merging {
  readonly catalogue: Catalogue;
  readonly blocks: Blocks;
  readonly sources: readonly Source[];
  /** Names of the blocks that go when this one is there. */
  readonly replaces: readonly string[];
  readonly now: () => number;
}

/**
 * Merges blocks; undefined if one of them turns out to be damaged: the next attempt leaves it out.
 */
async function merge({
  catalogue,
  blocks,
  sources,
  replaces,
  now,
}: Merging): Promise<NewBlock | undefined> {
  const pause = budget({ timeoutMs: Infinity });
  const samples = new Samples();
  let description: BlockDescription | undefined;
  const written = await attemptBlock(
    catalogue.blocksFolder,
    nextBlockName(catalogue.db, 'raw'),
    async (writer) => {
      const builder = new BlockBuilder(writer);
      for (let labels = least(sources); labels !== undefined; labels = least(sources)) {
        samples.clear();
        for (const source of sources) {
          if (source.labels !== undefined && order(source.labels, labels) === 0) {
            const isRead = blocks.whole(source.row, (reader, lost) =>
              advance(source, reader, samples, lost),
            );
            if (isRead !== true) {
              return false;
            }
          }
        }
        samples.settle();
        if (samples.length > 0) {
          builder.add(labels, samples, 0, samples.length);
        }
        await pause.breathe();
      }
      builder.finish(
        (found) =>
          (description = describedRaw(found, now(), {
            replaces,
            position: positionIn(catalogue.db),
          })),
      );
      return true;
    },
  );
  return written === undefined || description === undefined
    ? undefined
    : rowFor(written, description);
}

/** Reads the current series of a source and advances to the next. */
function advance(source: Source, reader: BlockReader, into: Samples, lost: Lost): true {
  reader.read(source.next, -Infinity, Infinity, into, lost);
  source.next++;
  source.labels = source.next < reader.directory.series ? reader.labels(source.next) : undefined;
  return true;
}

function least(sources: readonly Source[]): Labels | undefined {
  let found: Labels | undefined;
  for (const { labels } of sources) {
    if (labels !== undefined && (found === undefined || order(labels, found) < 0)) {
      found = labels;
    }
  }
  return found;
}

/** The order of series in a block: metric by metric. */
function order(a: Labels, b: Labels): number {
  const [first, second] = [labelValue(a, metricName), labelValue(b, metricName)];
  return first === second ? compareLabels(a, b) : first < second ? -1 : 1;
}
