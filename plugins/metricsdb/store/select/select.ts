import { eachOf, labelsKey, type Budget, type Labels, type Matcher } from 'svc/query';
import { type BlockRow } from 'svc/store';

import type { SelectHints, Series, Visit } from '../../promql/vector/source.ts';
import { rawLevel } from '../blocks/block-layout.ts';
import { type Blocks } from '../blocks/blocks.ts';
import { briefest, levelFor } from '../blocks/rollup.ts';
import { Samples } from '../columns/samples.ts';
import { type Head } from '../head/head.ts';
import { ChosenBlocks } from './chosen-blocks.ts';
import { type Reads } from './reads.ts';
import { type Found, selectionKey, type Selections } from './selections.ts';

export interface SelectParts {
  readonly head: Head;
  readonly blocks: Blocks;
  readonly reads: Reads;
  readonly selections: Selections;
}

const firstPool = 4_096;
const largestPool = 131_072;
/** Series of a block whose labels are read in one go. */
const seriesAtOnce = 512;

/** Samples of all matching series in (mint, maxt], from the head and all blocks, in one piece each. */
export async function select(
  parts: SelectParts,
  matchers: readonly Matcher[],
  mint: number,
  maxt: number,
  cost: Budget,
): Promise<readonly Series[]> {
  const out: Series[] = [];
  const pool = new Pool();
  await scan(parts, matchers, mint, maxt, {}, cost, (series) => void out.push(pool.kept(series)));
  return out;
}

/** The same one series after the other; what `visit` gets is used again for the next one. */
export async function scan(
  parts: SelectParts,
  matchers: readonly Matcher[],
  mint: number,
  maxt: number,
  hints: SelectHints,
  cost: Budget,
  visit: Visit,
): Promise<void> {
  const { head, blocks, reads } = parts;
  const read = reads.begin();
  const level = levelFor(hints, matchers);
  blocks.damage.touching(mint, maxt).forEach((sentence) => cost.warn(sentence));
  const isInHead = (row: BlockRow): boolean => head.touches(row.mint, row.maxt);
  const chosen = new ChosenBlocks(
    blocks,
    briefest(blocks.list(), level, mint, maxt, isInHead),
    cost,
  );
  // Blocks have samples of these times, too: only all of them together show which is the newest.
  const headOnly = hints.newest === true && chosen.rows.length === 0;
  try {
    const found = await find(parts, chosen, matchers, mint, maxt, cost);
    const samples = new Samples();
    if (level !== rawLevel) {
      samples.counting();
    }
    if (hints.timesOnly === true) {
      samples.withoutValues();
    }
    for (const { labels, slot, generation, inBlocks } of found) {
      samples.clear();
      for (let i = 0; i < inBlocks.length; i += 2) {
        chosen.read(inBlocks[i]!, inBlocks[i + 1]!, labels, [mint, maxt], samples);
      }
      if (
        slot !== -1 &&
        head.index.generation(slot) === generation &&
        !(headOnly && head.samples.newest(slot, mint, maxt, samples))
      ) {
        const begin = samples.length;
        head.samples.read(slot, mint, maxt, samples, read.withMoved);
        samples.countEach(begin);
      }
      samples.settle();
      const from = samples.after(mint);
      const to = samples.after(maxt);
      if (to > from) {
        cost.spend(to - from);
        const pause = visit(view(labels, samples, from, to));
        if (pause !== undefined) {
          await pause;
        }
      }
      const breath = cost.breathe();
      if (breath !== undefined) {
        await breath;
      }
    }
  } finally {
    chosen.done();
    read.done();
  }
}

function view(labels: Labels, samples: Samples, from: number, to: number): Series {
  const times = samples.times.subarray(from, to);
  const values = samples.values.subarray(from, to);
  const length = to - from;
  const counts = samples.counts && { counts: samples.counts.subarray(from, to) };
  if (samples.anyStale) {
    const stale = samples.stale.subarray(from, to);
    if (stale.includes(1)) {
      return { labels, times, values, length, stale, ...counts };
    }
  }
  return { labels, times, values, length, ...counts };
}

/** Matching series of head and blocks, each once; what was found before is still so while nothing changed that it depends on. */
export async function find(
  { head, blocks, selections }: Omit<SelectParts, 'reads'>,
  chosen: ChosenBlocks,
  matchers: readonly Matcher[],
  mint: number,
  maxt: number,
  cost: Budget,
): Promise<Iterable<Found>> {
  const files = chosen.rows.map(({ file }) => file);
  const { changes } = head.index;
  const inHead = head.touches(mint, maxt);
  const key = selectionKey(matchers, files, inHead ? changes : undefined);
  // Damaged blocks are looked at again each time: the answer says what cannot be read.
  const damaged = blocks.damage.touching(mint, maxt).length > 0;
  const known = damaged ? undefined : selections.get(key);
  if (known !== undefined) {
    return known;
  }
  const { length: warned } = cost.warnings;
  const { count, series } = await search(head, chosen, matchers, inHead, cost);
  if (damaged || !selections.isWanted(key, count)) {
    return series;
  }
  const list: Found[] = [];
  await eachOf(series, cost, (one) => void list.push(one));
  if (
    head.index.changes === changes &&
    cost.warnings.length === warned &&
    files.every((file, place) => chosen.rows[place]!.file === file)
  ) {
    selections.keep(key, list);
  }
  return list;
}

interface Searched {
  readonly count: number;
  readonly series: Iterable<Found>;
}

async function search(
  head: Head,
  chosen: ChosenBlocks,
  matchers: readonly Matcher[],
  inHead: boolean,
  cost: Budget,
): Promise<Searched> {
  if (chosen.rows.length === 0) {
    const slots = inHead ? head.index.matching(matchers) : [];
    return { count: slots.length, series: eachInHead(head, slots) };
  }
  const found = new Map<string, Found>();
  for (const position of chosen.rows.keys()) {
    const matching = chosen.at(position, (reader, lost) => reader.matching(matchers, lost)) ?? [];
    for (let from = 0; from < matching.length; from += seriesAtOnce) {
      chosen.at(position, (reader) => {
        for (const series of matching.slice(from, from + seriesAtOnce)) {
          const key = reader.key(series);
          const known = found.get(key);
          if (known === undefined) {
            found.set(key, {
              labels: reader.labels(series),
              slot: -1,
              generation: 0,
              inBlocks: [position, series],
            });
          } else {
            known.inBlocks.push(position, series);
          }
        }
        return true;
      });
      await cost.breathe();
    }
  }
  if (inHead) {
    await eachOf(eachInHead(head, head.index.matching(matchers)), cost, (series) => {
      const key = labelsKey(series.labels);
      const known = found.get(key);
      if (known === undefined) {
        found.set(key, series);
      } else {
        known.slot = series.slot;
        known.generation = series.generation;
      }
    });
  }
  return { count: found.size, series: found.values() };
}

/** One after the other, so that their labels are not all read in one go; a slot that was given to another series meanwhile is left out. */
function* eachInHead({ index }: Head, slots: readonly number[]): Iterable<Found> {
  const generations = Float64Array.from(slots, (slot) => index.generation(slot));
  for (const [at, slot] of slots.entries()) {
    if (index.generation(slot) === generations[at]) {
      yield { labels: index.labels(slot), slot, generation: generations[at], inBlocks: [] };
    }
  }
}

/**
 * Pool that slices result arrays from large ones: thousands of small buffers would cost more than
 * their content.
 */
class Pool {
  #times = new Float64Array(0);
  #values = new Float64Array(0);
  #used = 0;
  #size = firstPool / 2;

  kept(series: Series): Series {
    const { labels, length, stale } = series;
    if (this.#used + length > this.#times.length) {
      this.#size = Math.min(largestPool, this.#size * 2);
      this.#times = new Float64Array(Math.max(this.#size, length));
      this.#values = new Float64Array(this.#times.length);
      this.#used = 0;
    }
    const times = this.#times.subarray(this.#used, this.#used + length);
    const values = this.#values.subarray(this.#used, this.#used + length);
    this.#used += length;
    times.set(series.times);
    values.set(series.values);
    return { labels, times, values, length, ...(stale !== undefined && { stale: stale.slice() }) };
  }
}
