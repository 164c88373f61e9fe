import { type BlockContent, type BlockDescription, sectionCache } from 'svc/store';

import { type BlockPosition, keysOf, StoredBlock } from './block.ts';

/** How a block of traces tells what the catalogue knows of it. */
export const blockContent: BlockContent = {
  // The log up to there is in blocks, whether the catalogue noted it or not.
  enter: (db, _row, { store }) =>
    void db
      .prepare('update position set segment = max(segment, ?)')
      .run((store as BlockPosition).segment ?? 0),
  describe,
};

/** Reads all times and names of a block that does not describe itself. */
function describe(path: string): BlockDescription {
  const at = path.lastIndexOf('/');
  const row = {
    id: 0,
    file: path.slice(at + 1),
    level: 0,
    mint: 0,
    maxt: 0,
    bytes: 0,
    rows: 0,
    damaged: 0,
    meta: '{}',
    cause: null,
  } as const;
  const block = new StoredBlock(path.slice(0, at), row, {
    cache: sectionCache(0),
    opened: () => undefined,
    groupAt: (_key, make) => make(),
  });
  try {
    let [mint, maxStart, maxt, rows, traces] = [Infinity, -Infinity, -Infinity, 0, 0];
    const keys = new Map<string, number>();
    for (const group of block.groups()) {
      for (let span = 0; span < group.rows; span++) {
        const start = group.startMs[span]!;
        mint = Math.min(mint, start);
        maxStart = Math.max(maxStart, start);
        maxt = Math.max(maxt, Math.ceil(start + 1 + group.durations[span]! / 1e6));
      }
      for (const { key, scopes } of group.dictionary.keys()) {
        keys.set(key, (keys.get(key) ?? 0) | scopes);
      }
      rows += group.rows;
      traces += group.traces;
    }
    const names = keysOf([...keys].map(([key, scopes]) => ({ key, scopes })));
    return {
      level: 0,
      mint,
      maxt,
      rows,
      meta: JSON.stringify({ maxStart: maxStart + 1, traces, ...names }),
      replaces: [],
      store: {},
    };
  } finally {
    block.release();
  }
}
