import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { type Logger, messageOf } from 'svc/sdk';
import { budget } from 'svc/query';
import {
  type CareRequest,
  type Catalogue,
  diskSpace,
  endIfDamaged,
  openCatalogue,
  openWal,
  OpeningSteps,
  RetentionClock,
  type StoreReport,
  segmentCopyIn,
  type Wal,
} from 'svc/store';

import type { SearchWindow, SpanSource } from '../traceql/spans/source.ts';
import type { TraceSpans } from '../traceql/spans/span.ts';
import { blockContent } from './blocks/block-content.ts';
import { BlockSet } from './blocks/block-set.ts';
import { writeTraceBlock } from './blocks/block.ts';
import { errors } from './errors.ts';
import { Head } from './head/head.ts';
import { defaultLimits, type TraceLimits } from './head/limits.ts';
import { decodeTraces } from './intake/decode.ts';
import {
  type PushFormat,
  type PushOptions,
  type PushResult,
  requestOf,
  resultOf,
} from './intake/push.ts';
import { type MetricRow, SpanMetrics } from './intake/span-metrics.ts';
import { readRecord, recordHead } from './intake/wal-record.ts';
import { gather, type SpanTables, spanSource } from './read/scan.ts';
import { statsOf, type StoreStats } from './stats.ts';
import type { TracesStore, TracesStoreOptions } from './store-contract.ts';

export type { TracesStore, TracesStoreOptions } from './store-contract.ts';

/** The log up to this segment is in blocks; written with the block itself, so that no crash reads a span twice. */
const schema = [
  'create table position (id integer primary key check (id = 1), segment integer not null) strict; insert into position values (1, 0);',
];

const positionIn = ({ db }: Catalogue): number =>
  db.prepare('select segment from position').pluck().get() as number;

const maxWaitingHeads = 3;

export async function openTracesStore(options: TracesStoreOptions): Promise<TracesStore> {
  const { folder, log, files, nativeBinding } = options;
  const steps = new OpeningSteps();
  const catalogue = openCatalogue(join(folder, 'catalogue.db'), schema, {
    log,
    content: blockContent,
    ...(nativeBinding !== undefined && { nativeBinding }),
  });
  steps.end('catalogue');
  const wal = await openWal({
    folder: join(folder, 'wal'),
    log,
    now: options.now,
    // Blocks tell their position: a number must not come again.
    after: positionIn(catalogue),
    copy: segmentCopyIn(catalogue.db),
    ...(files !== undefined && { files }),
  });
  steps.end('wal');
  const store = new Store(options, catalogue, wal);
  steps.end('blocks');
  try {
    await store.replay();
  } catch (error) {
    await store.close();
    throw error;
  }
  steps.end('replay');
  const { blocks, headSpans } = store.stats();
  log.info(
    { event: 'traces.opened', blocks, spans: headSpans, ...steps.fields },
    'trace store opened',
  );
  return store;
}

/** Head that accepts no more spans, with the log segment that begins after it. */
interface Waiting {
  readonly head: Head;
  readonly segment: Promise<number>;
}

class Store implements TracesStore {
  #limits: TraceLimits;
  readonly #catalogue: Catalogue;
  readonly #wal: Wal;
  readonly #blocks: BlockSet;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #clock: RetentionClock;
  readonly #disk: ReturnType<typeof diskSpace>;
  #metrics: SpanMetrics;
  readonly #waiting: Waiting[] = [];
  readonly tables: SpanTables;
  #head: Head;
  #emptying: Promise<void> | undefined;
  #blocksMade = 0;
  #replayed = 0;
  #closed = false;
  readonly #totals = { accepted: 0, rejected: 0, trimmed: 0 };

  constructor(
    { folder, log, now, monotonic, limits: given, disk }: TracesStoreOptions,
    catalogue: Catalogue,
    wal: Wal,
  ) {
    const limits = { ...defaultLimits, ...given };
    const blocks = new BlockSet(catalogue, wal, log);
    this.#limits = limits;
    this.#catalogue = catalogue;
    this.#wal = wal;
    this.#blocks = blocks;
    this.#log = log;
    this.#now = now;
    this.#clock = new RetentionClock(catalogue, { now, monotonic, log });
    this.#disk = diskSpace(folder, disk);
    this.#metrics = new SpanMetrics(limits.metricSeries);
    this.#head = this.newHead();
    this.tables = {
      heads: () => [this.#head, ...this.#waiting.map(({ head }) => head)],
      blocks: () => blocks.blocks,
    };
  }

  /**
   * Replays what is in the log and in no block. A head is cut only between segments, so that each
   * is in one of them.
   */
  async replay(): Promise<void> {
    const done = positionIn(this.#catalogue);
    // What is in blocks is not missed.
    await this.#wal.drop(done);
    await this.#wal.replay(async (record, segment) => {
      if (this.#isFull() && segment > this.#replayed) {
        this.#retireHead(Promise.resolve(segment));
        await this.#empty();
      }
      this.#replayed = segment;
      const { body, stamp, receivedAt } = readRecord(record);
      const first = this.#head.rows;
      decodeTraces(body, this.#head, stamp, this.#limits, receivedAt);
      this.#head.reveal(first, this.#head.rows);
    });
    const since = this.tables
      .heads()
      .reduce(
        (oldest, { startMs, rows }) =>
          startMs.subarray(0, rows).reduce((least, start) => Math.min(least, start), oldest),
        Infinity,
      );
    this.#blocks.damage.lost(since, this.#now());
  }

  get limits(): TraceLimits {
    return this.#limits;
  }

  setLimits(limits: Partial<TraceLimits>): void {
    const { metricSeries } = this.#limits;
    this.#limits = { ...this.#limits, ...limits };
    if (this.#limits.metricSeries !== metricSeries) {
      this.#metrics = new SpanMetrics(this.#limits.metricSeries);
    }
  }

  async push(
    format: PushFormat,
    body: Uint8Array,
    { encoding, stamp = {} }: PushOptions = {},
  ): Promise<PushResult> {
    this.#assertOpen();
    this.#disk.assertWritable();
    const proto = requestOf(format, body, encoding, this.#limits.bodyBytes);
    const head = this.#head;
    const now = this.#now();
    const first = head.rows;
    const tally = decodeTraces(proto, head, stamp, this.#limits, now);
    const end = head.rows;
    if (tally.accepted > 0) {
      const written = this.#wal.append(recordHead(stamp, now), proto);
      if (this.#isFull()) {
        this.#retireHead(this.#wal.cut());
        void this.#empty();
      }
      await written;
      head.reveal(first, end);
      this.count(head, first, end);
    }
    this.#totals.accepted += tally.accepted;
    this.#totals.rejected += tally.rejected;
    this.#totals.trimmed += tally.trimmed;
    return resultOf(tally);
  }

  source(): SpanSource {
    return spanSource(this.tables);
  }

  read<T>(question: () => Promise<T>): Promise<T> {
    return this.#blocks.read(question);
  }

  missing(window: SearchWindow, trace?: Uint8Array): string[] {
    return this.#blocks.missing(window, trace);
  }

  trace(id: Uint8Array): Promise<TraceSpans | undefined> {
    return this.#blocks.read(() => Promise.resolve(gather(this.tables, id)));
  }

  async tend({ now: atOnce = false }: { readonly now?: boolean } = {}): Promise<void> {
    const age = this.#now() - this.#head.openedAt;
    const due =
      this.#head.rows > 0 &&
      ((age >= this.#limits.headAgeMs && this.#head.rows >= this.#limits.headSpans / 8) ||
        age >= this.#limits.headMaxAgeMs);
    await (due || atOnce ? this.#toBlocks() : this.#empty());
    await this.#blocks.lookAgain(this.#now());
    this.#blocks.retain(
      { maxAgeMs: this.#limits.maxAgeMs, maxBytes: this.#limits.maxBytes },
      this.#clock,
    );
  }

  count(head: Head, first: number, end: number): void {
    if (this.#limits.metricSeries > 0) {
      this.#metrics.count(head, first, end, this.#now());
    }
  }

  metricRows(): MetricRow[] {
    return this.#metrics.flush(this.#now());
  }

  refusal(): string | undefined {
    return this.#disk.refusal();
  }

  async care(request: CareRequest): Promise<StoreReport> {
    const report =
      request === 'check'
        ? await this.#blocks.damage.check()
        : await this.#blocks.damage.mend({
            isMadeAgain: () => false,
            accept: request === 'accept',
            secure: () => this.#toBlocks(),
          });
    this.#blocks.readAnew();
    return report;
  }

  stats(): StoreStats {
    return statsOf({
      blocks: this.#blocks,
      heads: this.tables.heads(),
      walBytes: this.#wal.bytes,
      totals: this.#totals,
      metrics: this.#metrics,
    });
  }

  /**
   * Closes the store. Content of the head stays in the log, and is read from there at the next
   * start.
   */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#emptying;
    await this.#wal.close();
    this.#blocks.close();
    this.#catalogue.close();
  }

  newHead(): Head {
    const now = this.#now();
    return new Head(this.#limits, Math.imul(now, 0x9e3779b1) ^ Math.floor(now / 2 ** 32), now);
  }

  #isFull(): boolean {
    return this.#head.rows >= this.#limits.headSpans || this.#head.bytes >= this.#limits.headBytes;
  }

  #retireHead(segment: Promise<number>): void {
    // Building the block meets the error; until then it is ignored.
    segment.catch(() => undefined);
    this.#waiting.push({ head: this.#head, segment });
    this.#head = this.newHead();
  }

  /** Makes blocks of everything in memory. */
  async #toBlocks(): Promise<void> {
    if (this.#head.rows > 0) {
      this.#retireHead(this.#wal.cut());
    }
    await this.#empty();
  }

  /** Makes blocks of the heads that wait, oldest first. What fails is tried again at the next occasion, and stays readable. */
  #empty(): Promise<void> {
    this.#emptying ??= this.#emptyAll().finally(() => {
      this.#emptying = undefined;
    });
    return this.#emptying;
  }

  async #emptyAll(): Promise<void> {
    try {
      for (
        let next = this.#waiting[0];
        next !== undefined && !this.#closed;
        next = this.#waiting[0]
      ) {
        await this.#toBlock(next);
      }
    } catch (error) {
      endIfDamaged(error);
      this.#log.error(
        {
          event: 'traces.block_not_written',
          cause: messageOf(error),
          waiting: this.#waiting.length,
        },
        'failed to write a trace block; spans stay in the WAL; retrying',
      );
    }
  }

  async #toBlock({ head, segment }: Waiting): Promise<void> {
    const behind = await segment;
    const name = this.#freeName(behind);
    const block = await writeTraceBlock(this.#catalogue.blocksFolder, name, head, {
      budget: budget({ timeoutMs: Infinity }),
      position: { segment: behind },
    });
    const advance = (): void =>
      void this.#catalogue.db.prepare('update position set segment = ?').run(behind);
    if (block === undefined) {
      advance();
    } else {
      const row = this.#catalogue.blocks.add(block, advance);
      this.#blocks.add(row);
    }
    // In the same turn: a question sees these spans in the one or in the other.
    this.#waiting.shift();
    await this.#wal.drop(behind);
  }

  /**
   * Returns an unused name: segments are numbered from the start again, and the clock may have been
   * set back.
   */
  #freeName(segment: number): string {
    const name = `${String(this.#now()).padStart(14, '0')}-${segment}-${this.#blocksMade++}.traces`;
    return existsSync(join(this.#catalogue.blocksFolder, name)) ? this.#freeName(segment) : name;
  }

  #assertOpen(): void {
    if (this.#closed) {
      throw errors.store_closed({ retryAfterSeconds: 5 });
    }
    if (this.#waiting.length >= maxWaitingHeads) {
      throw errors.blocks_behind({ retryAfterSeconds: 2 });
    }
  }
}
