import { join } from 'node:path';

import type { LogIngest } from 'svc/contracts/logs';
import type { PushAnswer, Stamp } from 'svc/contracts/metricsdb';
import { type Labels, labelsOf } from 'svc/query';
import type { Logger } from 'svc/sdk';
import {
  type CareRequest,
  type Catalogue,
  DamageTracker,
  type DiskLimits,
  diskSpace,
  type DiskSpace,
  openCatalogue,
  OpeningSteps,
  openWal,
  type RetentionLimits,
  sectionCache,
  segmentCopyIn,
  type StoreReport,
  type Wal,
  type WalFiles,
} from 'svc/store';

import type { LogSource } from '../logql/lines/source.ts';
import { blockContent } from './blocks/block-content.ts';
import { chunkTable, schemaSql } from './blocks/chunk-table.ts';
import { Cutter } from './blocks/cutter.ts';
import { Directory } from './blocks/directory.ts';
import { errors } from './errors.ts';
import { type CutLimits, type LogLimits, usualCuts, usualLimits } from './head/limits.ts';
import type { StreamHolding } from './head/stream-owners.ts';
import { type Stream, StreamTable } from './head/stream-table.ts';
import { admit, type Admitted } from './intake/admit.ts';
import { decodePush, type PushFormat } from './intake/decode-push.ts';
import { Intake } from './intake/intake.ts';
import { Origins } from './intake/origins.ts';
import { StreamAdmission, type StreamBound, streamBounds } from './intake/stream-admission.ts';
import { Batch } from './lines/batch.ts';
import { Reader } from './read/reader.ts';
import { Upkeep } from './upkeep.ts';

export interface LogStoreOptions {
  readonly folder: string;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that never jump; by default those of the machine. */
  readonly monotonic?: () => number;
  readonly limits?: Partial<LogLimits>;
  readonly cuts?: Partial<CutLimits>;
  readonly retention?: RetentionLimits;
  readonly disk?: DiskLimits;
  readonly walFiles?: WalFiles;
  readonly cacheBytes?: number;
}

export interface PushOptions {
  readonly encoding?: string | undefined;
  readonly stamp?: Stamp | undefined;
  /** Name of the sender, whose share of the streams is limited. */
  readonly sender?: string | undefined;
}

type Rows = Parameters<LogIngest['write']>[0];

export interface LogStoreStatus {
  readonly streams: number;
  readonly activeStreams: number;
  /** Sender with most of them, if any is known. */
  readonly largestSender: StreamHolding | undefined;
  /** Limits of streams, and how far they are reached. */
  readonly streamBounds: readonly StreamBound[];
  readonly heldBytes: number;
  readonly walBytes: number;
  readonly blocks: number;
  readonly blockBytes: number;
  readonly removedBlocks: number;
  /** Milliseconds since 1970 of the oldest line in a block. */
  readonly oldest: number | undefined;
  /** Descriptions of what cannot be read, and why writing is refused or fails. */
  readonly damage: readonly string[];
  readonly trouble: string | undefined;
}

export interface LogStore {
  push(format: PushFormat, body: Uint8Array, options: PushOptions): Promise<PushAnswer>;
  write(rows: Rows): Promise<PushAnswer>;
  /** Parses a push without storing it. */
  readPush(format: PushFormat, body: Uint8Array, options: PushOptions): Admitted;
  readRows(rows: Rows): Admitted;
  source(): LogSource;
  readonly directory: Directory;
  /** Hears of every batch that is kept; its memory is another's when the listener has returned. */
  onKept(listener: (batch: Batch) => void): () => void;
  setLimits(limits: Partial<LogLimits>, retention: RetentionLimits): void;
  tidy(): Promise<void>;
  /** Everything that is in memory into blocks. */
  flush(): Promise<void>;
  status(): LogStoreStatus;
  /** Performs an operator's request. */
  care(request: CareRequest): Promise<StoreReport>;
  close(): Promise<void>;
}

const retentionBytes = 10 * 1024 ** 3;

/** Opens the store in its folder, bringing back what was acknowledged and is in no block. */
export async function openLogStore(options: LogStoreOptions): Promise<LogStore> {
  const { folder, log } = options;
  const steps = new OpeningSteps();
  const catalogue = openCatalogue(join(folder, 'catalogue.db'), schemaSql, {
    log,
    content: blockContent,
  });
  steps.end('catalogue');
  try {
    const wal = await openWal({
      folder: join(folder, 'wal'),
      log,
      now: options.now,
      segmentBytes: options.cuts?.segmentBytes ?? usualCuts.segmentBytes,
      copy: segmentCopyIn(catalogue.db),
      ...(options.walFiles && { files: options.walFiles }),
    });
    steps.end('wal');
    const store = new Store(options, catalogue, wal);
    steps.end('streams');
    await store.replay(steps);
    return store;
  } catch (error) {
    catalogue.close();
    throw error;
  }
}

class Store implements LogStore {
  readonly directory: Directory;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #catalogue: Catalogue;
  readonly #wal: Wal;
  readonly #disk: DiskSpace;
  readonly #damage: DamageTracker;
  readonly #streams = new StreamTable();
  readonly #origins = new Origins();
  readonly #cutter: Cutter;
  readonly #intake: Intake;
  readonly #reader: Reader;
  readonly #upkeep: Upkeep;
  readonly #listeners = new Set<(batch: Batch) => void>();
  #limits: LogLimits;
  #retention: RetentionLimits;

  constructor(options: LogStoreOptions, catalogue: Catalogue, wal: Wal) {
    const { folder, log, now } = options;
    const cuts = { ...usualCuts, ...options.cuts };
    this.#log = log;
    this.#now = now;
    this.#catalogue = catalogue;
    this.#wal = wal;
    this.#limits = { ...usualLimits, ...options.limits };
    this.#retention = options.retention ?? { maxAgeMs: 14 * 86_400_000, maxBytes: retentionBytes };
    this.#disk = diskSpace(folder, options.disk);
    this.#damage = new DamageTracker(catalogue, wal, log);
    const chunks = chunkTable(catalogue);
    const streams = this.#streams;
    chunks.restore(streams);
    this.#cutter = new Cutter({ streams, catalogue, chunks, limits: cuts, log, now });
    this.#intake = new Intake({
      wal,
      streams,
      now,
      kept: (batch) => this.#listeners.forEach((listener) => listener(batch)),
    });
    this.#reader = new Reader({
      streams,
      chunks,
      catalogue,
      cache: sectionCache(options.cacheBytes ?? 32 * 1024 * 1024),
      damage: this.#damage,
    });
    this.directory = new Directory(streams, chunks, this.#damage);
    const [cutter, intake, reader] = [this.#cutter, this.#intake, this.#reader];
    this.#upkeep = new Upkeep({
      streams,
      chunks,
      catalogue,
      wal,
      cutter,
      intake,
      reader,
      damage: this.#damage,
      cuts,
      retention: () => this.#retention,
      log,
      now,
      monotonic: options.monotonic,
    });
  }

  /**
   * Replays the log. Large amounts go into blocks on the way, so that starting needs no more memory
   * than running.
   */
  async replay(steps: OpeningSteps): Promise<void> {
    for (const { cutRecord } of this.#streams.all()) {
      this.#intake.startAfter(cutRecord);
    }
    const { records } = await this.#wal.replay(async (record, segment) => {
      this.#intake.replay(record, segment);
      await this.#upkeep.relieveMemory();
    });
    const since = Math.min(...[...this.#streams.all()].map(oldestHeld));
    this.#damage.lost(since, this.#now());
    steps.end('replay');
    const figures = { records, streams: this.#streams.size, held_bytes: this.#upkeep.heldBytes };
    this.#log.info({ event: 'logs.opened', ...figures, ...steps.fields }, 'log store opened');
  }

  async push(format: PushFormat, body: Uint8Array, options: PushOptions): Promise<PushAnswer> {
    this.#assertRoom();
    return await this.#keep(
      this.readPush(format, body, options),
      this.#streams.owners.number(options.sender ?? ''),
    );
  }

  async write(rows: Rows): Promise<PushAnswer> {
    this.#assertRoom();
    return await this.#keep(this.readRows(rows));
  }

  readPush(format: PushFormat, body: Uint8Array, options: PushOptions): Admitted {
    const { encoding, stamp, sender = '' } = options;
    const pushed = decodePush(format, body, encoding, this.#limits.inflatedBytes);
    return this.#admit(pushed, stamp, this.#streams.owners.number(sender));
  }

  readRows(rows: Rows): Admitted {
    const batch = new Batch(1024, Math.max(16, rows.length));
    for (const { labels, at, line, metadata } of rows) {
      const from = batch.count;
      batch.text(
        at.ms,
        at.ns,
        line,
        metadata === undefined ? 0 : batch.metaOf(labelsOf(Object.entries(metadata))),
      );
      batch.part(labelsOf(Object.entries(labels)), from);
    }
    return this.#admit(batch, undefined);
  }

  #admit(pushed: Batch, stamp: Stamp | undefined, owner?: number): Admitted {
    if (pushed.parts.length === 0) {
      throw errors.no_stream();
    }
    const admission = new StreamAdmission(this.#streams, this.#limits, owner);
    const refusal = (labels: Labels): string | undefined => admission.refusal(labels);
    const admitted = admit(pushed, {
      limits: this.#limits,
      now: this.#now(),
      stamp,
      origins: this.#origins,
      refusal,
    });
    if (admitted.batch.count === 0 && admission.refused) {
      throw errors.streams_refused({ reason: admitted.reasons[0]! }, { retryAfterSeconds: 60 });
    }
    return admitted;
  }

  async #keep({ batch, rejected, reasons }: Admitted, owner?: number): Promise<PushAnswer> {
    if (batch.count > 0) {
      await this.#intake.keep(batch, owner);
      batch.release();
      await this.#upkeep.relieve();
    }
    return { accepted: batch.count, rejected, reasons };
  }

  #assertRoom(): void {
    this.#disk.assertWritable();
    this.#upkeep.assertRoom();
    if (this.#intake.pendingBytes > this.#limits.pendingBytes) {
      throw errors.wal_behind({ retryAfterSeconds: 1 });
    }
  }

  source(): LogSource {
    return this.#reader.source();
  }

  onKept(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  setLimits(limits: Partial<LogLimits>, retention: RetentionLimits): void {
    this.#limits = { ...this.#limits, ...limits };
    this.#retention = retention;
  }

  tidy(): Promise<void> {
    return this.#upkeep.tidy();
  }

  flush(): Promise<void> {
    return this.#upkeep.flush();
  }

  async care(request: CareRequest): Promise<StoreReport> {
    const report =
      request === 'check'
        ? await this.#damage.check()
        : await this.#damage.mend({
            isMadeAgain: () => false,
            accept: request === 'accept',
            secure: () => this.#upkeep.flush(),
          });
    this.#reader.close();
    return report;
  }

  status(): LogStoreStatus {
    const blocks = this.#catalogue.blocks.list();
    return {
      streams: this.#streams.size,
      activeStreams: this.#streams.active.size,
      largestSender: this.#streams.owners.holdings()[0],
      streamBounds: streamBounds(this.#streams, this.#limits),
      heldBytes: this.#upkeep.heldBytes,
      walBytes: this.#wal.bytes,
      blocks: blocks.length,
      blockBytes: blocks.reduce((sum, { bytes }) => sum + bytes, 0),
      removedBlocks: this.#upkeep.removedBlocks,
      oldest: blocks[0]?.mint,
      damage: this.#damage.sentences(),
      trouble: this.#disk.refusal() ?? this.#cutter.trouble,
    };
  }

  /** Closes the store. Everything in memory is in the log too, and restored from there. */
  async close(): Promise<void> {
    await this.#upkeep.settled();
    await this.#wal.close();
    this.#reader.close();
    this.#catalogue.close();
  }
}

/** The time of the oldest line of a stream that is in memory. */
const oldestHeld = ({ head, sealed }: Stream): number =>
  Math.min(
    head !== undefined && head.count > 0 ? head.lend().ms[0]! : Infinity,
    ...sealed.map(({ mint }) => mint),
  );
