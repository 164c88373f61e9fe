import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { Clock } from 'svc/sdk';

import type { Size } from '../frames.ts';
import { limits } from '../limits.ts';
import { createCast } from './cast.ts';
import { createPage } from './page.ts';
import type { SealedFile, Tally } from './sealed-file.ts';

const packed = promisify<Uint8Array, { readonly level: number; readonly chunkSize: number }, Buffer>(gzip);
/** A shell that prints without end must not keep the others waiting for a core; text becomes a quarter larger than it could be. */
const quick = 1;
/** What zlib hands on at a time; between two of them it waits for the loop. */
const chunk = { least: 1_024, most: 64 * 1_024 };

export interface RecorderOptions extends Size {
  readonly file: SealedFile;
  readonly term: string;
  readonly title: string;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** What the session has come to; kept with each batch. */
  readonly counted: () => Omit<Tally, 'ms'>;
  /** Nothing more can be recorded. Told once. */
  readonly failed: (why: 'full' | 'disk', cause: unknown) => void;
  /** There is room again after `full`. */
  readonly drained: () => void;
}

export interface Recorded {
  /** Of the `.cast.gz`, as it is downloaded. */
  readonly bytes: number;
  readonly sha256: string;
  readonly durationMs: number;
}

/** Writes a recording as it happens. Each batch is a gzip member of its own, so a file that ends early is still one. */
export interface Recorder {
  output(bytes: Uint8Array): void;
  resize(size: Size): void;
  /** So much is not on disk yet that the shell has to wait. */
  readonly full: boolean;
  /** Hands on what there is; resolves once it is written. */
  flush(): Promise<void>;
  /** Undefined when it could not be completed. */
  finish(): Promise<Recorded | undefined>;
}

export async function startRecorder({ file, term, title, clock, maxBytes, counted, failed, drained, ...size }: RecorderOptions): Promise<Recorder> {
  const startedAt = clock.monotonic();
  const since = (): number => clock.monotonic() - startedAt;
  const tally = (): Tally => ({ ...counted(), ms: Math.round(since()) });
  const cast = createCast({ ...size, term, title, timestamp: Math.floor(clock.now() / 1_000) });
  const hash = createHash('sha256');
  const page = createPage();
  let unwritten = 0;
  let bytes = 0;
  let wasFull = false;
  let hasBegun = false;
  const state: { broken?: { readonly why: 'full' | 'disk'; readonly cause: unknown } } = {};
  let writing: Promise<void> = Promise.resolve();

  function add(line: string): void {
    if (line === '' || state.broken) {
      return;
    }
    unwritten += page.add(line);
    wasFull ||= unwritten > limits.unrecordedBytes;
    if (page.length >= limits.recordBatchBytes) {
      void flush();
    }
  }

  async function writeBatch(batch: Uint8Array, reached: Tally): Promise<void> {
    if (state.broken) {
      return;
    }
    try {
      const chunkSize = Math.min(chunk.most, Math.max(chunk.least, batch.length));
      const member = await packed(batch, { level: quick, chunkSize });
      if (bytes + member.length > maxBytes) {
        state.broken = { why: 'full', cause: undefined };
        report('full', undefined);
        return;
      }
      await file.write(member, reached);
      hash.update(member);
      bytes += member.length;
    } catch (cause) {
      state.broken = { why: 'disk', cause };
      report('disk', cause);
    } finally {
      unwritten -= batch.length;
      if (wasFull && unwritten <= limits.unrecordedBytes / 2) {
        wasFull = false;
        drained();
      }
    }
  }

  /** What fails before it has begun is thrown. */
  function report(why: 'full' | 'disk', cause: unknown): void {
    if (hasBegun) {
      failed(why, cause);
    }
  }

  function flush(): Promise<void> {
    if (page.length > 0) {
      const batch = page.take();
      const reached = tally();
      writing = writing.then(() => writeBatch(batch, reached));
    }
    return writing;
  }

  // At once: a disk that takes nothing is found before anything is shown.
  add(cast.header);
  await flush();
  if (state.broken) {
    await file.close();
    throw state.broken.cause;
  }
  hasBegun = true;

  return {
    output: (piece) => add(cast.output(since(), piece)),
    resize: (next) => add(cast.resize(since(), next)),
    get full() {
      return wasFull;
    },
    flush,
    async finish() {
      const durationMs = Math.round(since());
      add(cast.end(durationMs));
      await flush();
      try {
        // One that became full is as long as it may be, and complete.
        if (state.broken?.why !== 'disk') {
          await file.finish(tally());
        }
      } catch (cause) {
        state.broken = { why: 'disk', cause };
      }
      await file.close();
      return state.broken?.why !== 'disk' ? { bytes, sha256: hash.digest('hex'), durationMs } : undefined;
    },
  };
}
