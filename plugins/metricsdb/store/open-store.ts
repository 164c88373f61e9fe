import { join } from 'node:path';

import { type Catalogue, openCatalogue, OpeningSteps, openWal, segmentCopyIn } from 'svc/store';

import { blockContent } from './blocks/block-content.ts';
import { catalogueSchema, floorOf, getState, setState } from './blocks/catalogue-schema.ts';
import type { SpilledDrop } from './drop/drops.ts';
import { Head } from './head/head.ts';
import { MetricsStore, type MetricsStoreOptions } from './store.ts';
import { defaultLimits } from './upkeep/limits.ts';
import { HeadSpill, replay } from './upkeep/replay.ts';

/**
 * Opens a store in one folder: accepted data is in the log, its newest part in the head, the rest
 * in blocks.
 */
export async function openMetricsStore(options: MetricsStoreOptions): Promise<MetricsStore> {
  const { folder, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const steps = new OpeningSteps();
  const catalogue = openCatalogue(join(folder, 'catalogue.db'), catalogueSchema, {
    log,
    content: {
      ...blockContent,
      rebuilt: (db) => setState(db, 'rebuilt', options.now()),
    },
  });
  steps.end('catalogue');
  try {
    const wal = await openWal({
      folder: join(folder, 'wal'),
      log,
      now: options.now,
      after: getState(catalogue.db, 'floor') ?? 0,
      copy: segmentCopyIn(catalogue.db),
      ...options.wal,
    });
    const floor = floorOf(catalogue.db, wal);
    await wal.drop(floor);
    steps.end('wal');
    const head = new Head({
      seed: options.seed ?? randomSeed(catalogue),
      window: limits.outOfOrderMs,
      maxSeries: limits.maxSeries,
      maxLabelBytes: limits.maxLabelBytes,
    });
    const newest = (): number => Math.max(0, ...catalogue.blocks.list().map(({ id }) => id));
    const [before, spilled] = [newest(), [] as SpilledDrop[]];
    const replayed = await replay(
      wal,
      head,
      floor,
      log,
      new HeadSpill({ head, catalogue, limits, now: options.now, log }),
      (selection) => spilled.push({ selection, from: before, upto: newest() }),
    );
    // The log defines series that had ended when it was cut, too.
    head.removeIdle();
    const since = Math.min(getState(catalogue.db, 'boundary') ?? -Infinity, head.minTime);
    wal.damage.forEach(({ segment, what }) =>
      catalogue.losses.add({ part: segment, cause: what, mint: since, maxt: options.now() }),
    );
    steps.end('replay');
    const store = new MetricsStore(options, limits, catalogue, wal, head);
    await store.resumeDrops(spilled);
    steps.end('blocks');
    log.info(
      { event: 'metricsdb.opened', series: head.index.live, ...replayed, ...steps.fields },
      'metrics store opened',
    );
    return store;
  } catch (error) {
    catalogue.close();
    throw error;
  }
}

const randomSeed = ({ db }: Catalogue): number =>
  db.prepare('select abs(random() % 4294967296)').pluck().get() as number;
