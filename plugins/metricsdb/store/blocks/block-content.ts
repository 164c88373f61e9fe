import { statSync } from 'node:fs';

import { type BlockContent, type BlockDescription, type BlockRow, sectionCache } from 'svc/store';

import { Samples } from '../columns/samples.ts';
import type { Finished } from './block-builder.ts';
import { rawLevel } from './block-layout.ts';
import { metaOf, spansOfSlices } from './block-meta.ts';
import { BlockReader } from './block-reader.ts';
import { claim } from './catalogue-schema.ts';
import { GroupCache } from './label-group.ts';

/** What a cut says in its block: the first segment of the log that counts from then on, and the time before which all is in blocks. */
export interface CutPosition {
  readonly floor?: number;
  readonly boundary?: number;
}

/** Describes a block of all samples. */
export const describedRaw = (
  { series, spans, mint, maxt, samples }: Finished,
  written: number,
  {
    replaces = [],
    position = {},
  }: { readonly replaces?: readonly string[]; readonly position?: CutPosition } = {},
): BlockDescription => ({
  level: rawLevel,
  mint,
  maxt,
  rows: samples,
  meta: JSON.stringify({ series, spans, written }),
  replaces,
  store: position,
});

/** How a block of metrics tells what the catalogue knows of it. */
export const blockContent: BlockContent = {
  enter: (db, { file }, { store }) => claim(db, file, store as CutPosition),
  describeRow(db, row) {
    const { level, mint, maxt, rows } = row;
    const { of, ...meta } = metaOf(row);
    // Blocks were numbered by the catalogue once.
    const whole =
      typeof of === 'number'
        ? db.prepare<[number], BlockRow>('select * from blocks where id = ?').get(of)?.file
        : of;
    return {
      level,
      mint,
      maxt,
      rows,
      meta: JSON.stringify({ ...(whole !== undefined && { of: whole }), ...meta }),
      replaces: [],
      store: {},
    };
  },
  describe,
};

function describe(path: string): BlockDescription | 'derived' {
  const reader = new BlockReader(path, sectionCache(0), new GroupCache(0));
  try {
    const { directory } = reader;
    if (directory.counted) {
      return 'derived';
    }
    const samples = new Samples();
    let [rows, mint, maxt] = [0, Infinity, -Infinity];
    for (let series = 0; series < directory.series; series++) {
      reader.read(series, -Infinity, Infinity, samples.clear(), (error) => {
        throw error;
      });
      rows += samples.length;
      for (let i = 0; i < samples.length; i++) {
        mint = Math.min(mint, samples.times[i]!);
        maxt = Math.max(maxt, samples.times[i]!);
      }
    }
    const spans = spansOfSlices(directory.slices.map(({ number }) => number));
    return describedRaw(
      { series: directory.series, spans, mint, maxt, samples: rows },
      Math.floor(statSync(path).mtimeMs),
    );
  } finally {
    reader.close();
  }
}
