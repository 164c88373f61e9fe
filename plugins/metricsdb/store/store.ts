import type { PushAnswer, SampleRow, Stamp } from 'svc/contracts/metricsdb';
import type { Budget, Labels, Matcher } from 'svc/query';
import type { Logger } from 'svc/sdk';
import {
  type CareRequest,
  type Catalogue,
  type DiskLimits,
  diskSpace,
  type DiskSpace,
  type StoreReport,
  type Wal,
  type WalOptions,
} from 'svc/store';

import type { SeriesSource } from '../promql/vector/source.ts';
import { rawLevel } from './blocks/block-layout.ts';
import { Blocks } from './blocks/blocks.ts';
import { getState } from './blocks/catalogue-schema.ts';
import type { Selection } from './columns/selection.ts';
import type { Drop } from './drop/drop-table.ts';
import { Drops, type SpilledDrop } from './drop/drops.ts';
import { errors } from './errors.ts';
import type { HeadCardinality, MetricsStats } from './figures.ts';
import { cardinality } from './head/cardinality.ts';
import { type Head } from './head/head.ts';
import { ownSender } from './head/series-owners.ts';
import { Intake } from './intake/intake.ts';
import { Metadata, type MetricMetadata } from './intake/metadata.ts';
import { type PushFormat, PushReader } from './intake/push-reader.ts';
import { seriesBounds } from './intake/series-bounds.ts';
import { Exemplars, type SeriesExemplars } from './select/exemplars.ts';
import { labelNames, labelValues, matchingSeries, type Window } from './select/label-queries.ts';
import { Reads } from './select/reads.ts';
import { scan, select, type SelectParts } from './select/select.ts';
import { Selections } from './select/selections.ts';
import { type MetricsLimits } from './upkeep/limits.ts';
import { Upkeep, type UpkeepParts } from './upkeep/upkeep.ts';

export interface MetricsStoreOptions {
  readonly folder: string;
  readonly limits?: Partial<MetricsLimits>;
  /** Wall clock. */
  readonly now: () => number;
  /** Milliseconds that never jump; by default those of the machine. */
  readonly monotonic?: () => number;
  readonly log: Logger;
  /** Seed of the series hash; random by default, so that nobody can make series collide. */
  readonly seed?: number;
  readonly disk?: DiskLimits;
  readonly wal?: Pick<WalOptions, 'files' | 'segmentBytes' | 'maxBytes'>;
}

export interface PushOptions {
  readonly encoding?: string;
  readonly stamp?: Stamp;
  /** Sender, on whose account new series go; this service itself by default. */
  readonly sender?: string;
}

/** Intakes that wait for the next push: thousands of small ones after a rush, or a few of senders with large bodies. */
const maxIdleBytes = 4 * 1_048_576;

export class MetricsStore {
  readonly limits: MetricsLimits;
  readonly #now: () => number;
  readonly #head: Head;
  readonly #disk: DiskSpace;
  readonly #parts: UpkeepParts & SelectParts;
  readonly #upkeep: Upkeep;
  readonly #described: Metadata;
  readonly #exemplars: Exemplars;
  readonly #reader: PushReader;
  readonly #drops: Drops;
  /** Pushes that come during the first step of a drop wait for this. */
  #pause: Promise<void> | undefined;
  readonly #intakes: Intake[] = [];
  #idleBytes = 0;
  readonly #applying = new Set<Promise<void>>();
  readonly #counts = { accepted: 0, rejected: 0, pushes: 0 };

  constructor(
    { folder, now, monotonic, log, disk }: MetricsStoreOptions,
    limits: MetricsLimits,
    catalogue: Catalogue,
    wal: Wal,
    head: Head,
  ) {
    this.limits = limits;
    this.#now = now;
    this.#head = head;
    this.#disk = diskSpace(folder, disk);
    const blocks = new Blocks(catalogue, wal, { cacheBytes: limits.cacheBytes, log });
    const applied = (): Promise<unknown> => Promise.all(this.#applying);
    this.#described = new Metadata(catalogue.db);
    this.#exemplars = new Exemplars(catalogue.db);
    this.#drops = new Drops({ catalogue, blocks, head, wal, exemplars: this.#exemplars, now });
    this.#parts = {
      head,
      wal,
      catalogue,
      blocks,
      reads: new Reads(),
      selections: new Selections(),
      now,
      monotonic,
      log,
      limits,
      disk: this.#disk,
      drops: this.#drops,
      applied,
    };
    this.#upkeep = new Upkeep(this.#parts);
    this.#reader = new PushReader(limits.maxPushBytes);
  }

  source(): SeriesSource {
    return {
      numbersOnly: true,
      select: (matchers, mint, maxt, _hints, cost) =>
        select(this.#parts, matchers, mint, maxt, cost),
      scan: (matchers, mint, maxt, hints, cost, visit) =>
        scan(this.#parts, matchers, mint, maxt, hints, cost, visit),
    };
  }

  /** One body of a sender. Resolves once everything accepted is on disk, and readable. */
  push(
    format: PushFormat,
    body: Uint8Array,
    { encoding, stamp = {}, sender = ownSender }: PushOptions = {},
  ): Promise<PushAnswer> {
    return this.#take({ stamp, sender }, (intake) =>
      this.#reader.read(format, body, encoding, this.#now(), intake, this.#described),
    );
  }

  write(rows: readonly SampleRow[]): Promise<PushAnswer> {
    return this.#take({ stamp: {}, sender: ownSender }, (intake) => {
      for (const { labels, time, value, stale = false } of rows) {
        intake.sample(intake.seriesOf(Object.entries(labels)), Math.floor(time), value, stale);
      }
    });
  }

  /** Marks the matching series of the head as ended; answers with how many were not yet. */
  async end(matchers: readonly Matcher[], time: number): Promise<number> {
    const { accepted } = await this.#take({ stamp: {} }, (intake) => {
      for (const slot of this.#head.index.matching(matchers)) {
        if (!this.#head.samples.ended(slot) && this.#head.samples.lastTime(slot) < time) {
          intake.mark(slot, time);
        }
      }
    });
    return accepted;
  }

  /**
   * Drops samples: when it resolves they no longer count against the limits; blocks follow. Pushes
   * wait for it meanwhile.
   */
  async drop(selection: Selection, asker: string): Promise<Drop> {
    const drop = await this.#upkeep.alone(async () => {
      let go = (): void => undefined;
      this.#pause = new Promise((resolve) => (go = resolve));
      try {
        await Promise.all(this.#applying);
        return await this.#drops.begin(selection, asker);
      } finally {
        this.#pause = undefined;
        go();
      }
    });
    this.#upkeep.dropBlocks();
    return drop;
  }

  /** Number of series of the head that any of the lists of matchers selects. */
  inHead(selectors: readonly (readonly Matcher[])[]): number {
    return new Set(selectors.flatMap((matchers) => this.#head.index.matching(matchers))).size;
  }

  /** Returns the drops of late, oldest first. */
  drops(): readonly Drop[] {
    return this.#drops.list();
  }

  /** Goes on with drops that the last end of the process interrupted. */
  async resumeDrops(spilled: readonly SpilledDrop[]): Promise<void> {
    spilled.forEach((one) => this.#drops.again(one));
    await this.#drops.resume();
    this.#upkeep.dropBlocks();
  }

  labels(
    matcherSets: readonly (readonly Matcher[])[],
    window: Window,
    cost: Budget,
  ): Promise<string[]> {
    return labelNames(this.#parts, matcherSets, window, cost);
  }

  labelValues(
    name: string,
    matcherSets: readonly (readonly Matcher[])[],
    window: Window,
    cost: Budget,
  ): Promise<string[]> {
    return labelValues(this.#parts, name, matcherSets, window, cost);
  }

  series(
    matcherSets: readonly (readonly Matcher[])[],
    window: Window,
    cost: Budget,
  ): Promise<Labels[]> {
    return matchingSeries(this.#parts, matcherSets, window, cost);
  }

  metadata(
    options: { readonly metric?: string; readonly limit?: number } = {},
  ): (MetricMetadata & { readonly metric: string })[] {
    return this.#described.list(options);
  }

  exemplars(
    matcherSets: readonly (readonly Matcher[])[],
    window: Window,
    cost: Budget,
  ): Promise<SeriesExemplars[]> {
    this.#parts.blocks.damage
      .touching(window.mint, window.maxt)
      .forEach((sentence) => cost.warn(sentence));
    const rebuilt = getState(this.#parts.catalogue.db, 'rebuilt');
    if (rebuilt !== undefined && window.mint < rebuilt) {
      cost.warn(
        `exemplars before ${new Date(rebuilt).toISOString()} went with a damaged catalogue`,
      );
    }
    return this.#exemplars.select(matcherSets, window, cost);
  }

  /** Returns what could not be read, as sentences. */
  damage(): string[] {
    return this.#parts.blocks.damage.sentences();
  }

  /** Performs an operator's request; open blocks are reloaded afterwards. */
  async care(request: CareRequest): Promise<StoreReport> {
    const { blocks } = this.#parts;
    const report =
      request === 'check'
        ? await blocks.damage.check()
        : await blocks.damage.mend({
            isMadeAgain: ({ level }) => level !== rawLevel,
            accept: request === 'accept',
            secure: () => this.#upkeep.renewLog(),
          });
    blocks.readAnew();
    return report;
  }

  stats(): MetricsStats {
    const { head, wal, blocks } = this.#parts;
    const rows = blocks.list();
    return {
      ...this.#counts,
      ...this.#upkeep.counts,
      series: head.index.live,
      seriesBounds: seriesBounds(head, this.limits),
      headBytes: head.bytes,
      walBytes: wal.bytes,
      cachedBytes: blocks.cachedBytes,
      blocks: rows.length,
      blockBytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      blockSamples: rows.filter(({ level }) => level === 0).reduce((sum, row) => sum + row.rows, 0),
      oldest: Math.min(head.minTime, ...rows.map(({ mint }) => mint)),
      newest: Math.max(head.maxTime, ...rows.map(({ maxt }) => maxt)),
      damaged: this.damage().length,
    };
  }

  /** Returns whose the series of the head are and what makes them many, largest first. */
  cardinality(limit: number): HeadCardinality {
    const { index, owners, minTime, maxTime } = this.#head;
    return {
      series: index.live,
      minTime,
      maxTime,
      ...cardinality(index, limit),
      senders: owners.holdings().slice(0, limit),
    };
  }

  /** Performs periodic maintenance. */
  async maintain(): Promise<void> {
    this.#described.save();
    this.#exemplars.save();
    await this.#upkeep.tidy();
  }

  async close(): Promise<void> {
    await this.#upkeep.stop();
    await Promise.allSettled(this.#applying);
    this.#described.save();
    this.#exemplars.save();
    await this.#parts.wal.close();
    this.#parts.blocks.close();
    this.#parts.catalogue.close();
  }

  async #take(
    { stamp, sender }: { readonly stamp: Stamp; readonly sender?: string },
    read: (intake: Intake) => void,
  ): Promise<PushAnswer> {
    while (this.#pause !== undefined) {
      await this.#pause;
    }
    this.#disk.assertWritable();
    if (this.#head.samples.chunks.bytes > this.limits.headBytes * 1.5) {
      throw errors.head_full({ retryAfterSeconds: 5 });
    }
    const intake = this.#idleIntake();
    try {
      read(intake.begin(stamp, this.#now(), sender));
      if (!intake.batch.empty) {
        await this.#commit(intake);
      }
      this.#counts.pushes++;
      this.#counts.accepted += intake.accepted;
      this.#counts.rejected += intake.rejected;
      const { index } = this.#head;
      const exemplars = intake.exemplars.filter(([slot, exemplar]) =>
        this.#exemplars.add(index.labels(slot), exemplar),
      ).length;
      return { ...intake.answer(), ...(exemplars > 0 && { exemplars }) };
    } catch (error) {
      intake.failed();
      throw error;
    } finally {
      this.#keepIntake(intake);
    }
  }

  #idleIntake(): Intake {
    const intake = this.#intakes.pop();
    this.#idleBytes -= intake?.batch.bytes ?? 0;
    return intake ?? new Intake(this.#head, this.limits);
  }

  #keepIntake(intake: Intake): void {
    const { bytes } = intake.batch;
    if (this.#idleBytes + bytes <= maxIdleBytes) {
      this.#intakes.push(intake);
      this.#idleBytes += bytes;
    }
  }

  /** First to the log, then to the head: nobody reads what could still be lost. */
  async #commit(intake: Intake): Promise<void> {
    const { wal } = this.#parts;
    const applied = wal.append(...intake.batch.record()).then(() => intake.apply());
    const owners = intake.owners();
    const noted = owners && wal.append(owners);
    const settled = applied.catch(() => undefined);
    this.#applying.add(settled);
    try {
      await Promise.all([applied, noted]);
    } finally {
      this.#applying.delete(settled);
    }
    this.#upkeep.cutWhenDue();
  }
}
