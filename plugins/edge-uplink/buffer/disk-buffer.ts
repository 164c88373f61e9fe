import { statfsSync } from 'node:fs';
import { join } from 'node:path';

import type { Signal } from 'svc/contracts/edge-uplink';
import type { BufferEvent } from 'svc/edge-protocol';
import { type Clock, messageOf, type Scope, timestamp } from 'svc/sdk';

import { errors } from './errors.ts';
import { type Loss, type Next, Queue } from './queue.ts';
import { type RecordHead, writeRecord } from './record.ts';

/** Lanes by priority; the first one is sent first and dropped last. */
export const lanes = ['events', 'metrics', 'logs', 'traces'] as const;
export type Lane = Signal | 'events';

export type DropReason = 'full' | 'refused' | 'damaged';

export interface BufferOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly scope: Pick<Scope, 'timeout'>;
  /** Never more than this on the disk. */
  readonly maxBytes: number;
  readonly onDrop?: (lane: Lane, items: number, reason: DropReason) => void;
  readonly onDamage?: (damage: LaneLoss) => void;
}

export interface LaneLoss extends Loss {
  readonly lane: Lane;
}

/** Max losses that the status names; the others are counted. */
const maxNamed = 8;

const groupMs = 1_000;
/** Max memory of writes that wait for the disk. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** Buffer on disk for data that waits for the manager: one queue per lane, one budget for all. */
export class DiskBuffer {
  readonly #options: BufferOptions;
  readonly #queues: ReadonlyMap<Lane, Queue>;
  readonly #dropped = new Map<string, number>();
  readonly #damaged: LaneLoss[] = [];
  readonly #wakers = new Map<Lane, () => void>();
  #turn: Promise<unknown> = Promise.resolve();
  #group: { done: Promise<void>; finish: (error?: unknown) => void } | undefined;
  #waitingBytes = 0;
  #closed = false;

  private constructor(options: BufferOptions, queues: ReadonlyMap<Lane, Queue>) {
    this.#options = options;
    this.#queues = queues;
  }

  static async open(options: BufferOptions): Promise<DiskBuffer> {
    const queues = new Map<Lane, Queue>();
    const losses: LaneLoss[] = [];
    for (const lane of lanes) {
      const lost = (loss: Loss): void => void losses.push({ lane, ...loss });
      queues.set(lane, await Queue.open(join(options.folder, lane), lost));
    }
    const buffer = new DiskBuffer(options, queues);
    losses.forEach((loss) => buffer.#lose(loss));
    return buffer;
  }

  /** Resolves once it is durable: at once where that is urgent, within a second otherwise. */
  async put(
    lane: Lane,
    head: Omit<RecordHead, 'at'>,
    body: Uint8Array,
    urgent = false,
  ): Promise<void> {
    if (this.#closed || this.#waitingBytes > maxWaitingBytes) {
      throw (this.#closed ? errors.stopped : errors.too_many_puts)({ retryAfterSeconds: 1 });
    }
    const at = this.#options.clock.now();
    const bytes = writeRecord({ ...head, at }, body);
    this.#waitingBytes += bytes.length;
    try {
      const group = await this.#inTurn(async () => {
        await this.#makeRoom(lane, bytes.length);
        await this.#append(lane, bytes, head.items, at);
        this.#group ??= this.#openGroup();
        return this.#group;
      });
      this.#wakers.get(lane)?.();
      if (urgent) {
        await this.#sync();
      }
      await group.done;
    } finally {
      this.#waitingBytes -= bytes.length;
    }
  }

  next(lane: Lane, replay: boolean): Promise<Next | undefined> {
    return this.#inTurn(() =>
      this.#queue(lane).next(replay, (loss) => this.#lose({ lane, ...loss })),
    );
  }

  left(lane: Lane, next: Next): Promise<void> {
    return this.#inTurn(() => this.#queue(lane).left(next));
  }

  /** Drops a record that the manager refused: it would be refused again. */
  async refused(lane: Lane, next: Next): Promise<void> {
    this.#drop(lane, next.record.head.items, 'refused');
    await this.left(lane, next);
  }

  async markWaiting(lane: Lane): Promise<void> {
    await this.#inTurn(async () => this.#queue(lane).markWaiting());
  }

  hasWaited(lane: Lane): boolean {
    return this.#queue(lane).hasWaited;
  }

  /** Registers a callback for records put into the lane. */
  onPut(lane: Lane, wake: () => void): void {
    this.#wakers.set(lane, wake);
  }

  /** The payload of the event `buffer`. */
  get status(): BufferEvent {
    const oldest = Math.min(
      ...[...this.#queues.values()].map((queue) => queue.oldestAt ?? Infinity),
    );
    return {
      dropped: [...this.#dropped.values()].reduce((sum, items) => sum + items, 0),
      queued_bytes: [...this.#queues.values()].reduce(
        (sum, queue) => sum + (queue.empty ? 0 : queue.bytes),
        0,
      ),
      oldest_at: oldest === Infinity ? null : timestamp(oldest),
      damaged: this.#damaged.map(({ lane, file, bytes, from, to }) => ({
        lane,
        file: file.slice(0, 1_000),
        bytes,
        from: instant(from),
        to: instant(to),
      })),
    };
  }

  /** Items lost since the start, by `<lane> <reason>`. */
  get dropped(): ReadonlyMap<string, number> {
    return this.#dropped;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sync();
    await this.#inTurn(async () => {
      for (const queue of this.#queues.values()) {
        await queue.close();
      }
    });
  }

  /**
   * Appends a record. The disk may be full before the budget is used up: then, too, the least
   * important data is dropped.
   */
  async #append(lane: Lane, bytes: Uint8Array, items: number, at: number): Promise<void> {
    for (;;) {
      try {
        await this.#queue(lane).append(bytes, items, at);
        return;
      } catch (error) {
        // Each round frees a segment, so there is a last one.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC' || !(await this.#dropLeast(lane))) {
          throw errors.buffer_write(
            { cause: messageOf(error) },
            { retryAfterSeconds: 30, cause: error },
          );
        }
      }
    }
  }

  async #makeRoom(lane: Lane, bytes: number): Promise<void> {
    const used = (): number =>
      [...this.#queues.values()].reduce((sum, queue) => sum + queue.bytes, 0);
    while (used() + bytes > this.#options.maxBytes) {
      if (!(await this.#dropLeast(lane))) {
        throw errors.buffer_full({ lane }, { retryAfterSeconds: 30 });
      }
    }
  }

  /** Drops the oldest of the least important data, but nothing more important than `lane`. */
  async #dropLeast(lane: Lane): Promise<boolean> {
    for (const candidate of lanes.slice(lanes.indexOf(lane)).toReversed()) {
      const queue = this.#queue(candidate);
      const items = queue.bytes === 0 ? undefined : await queue.dropOldest();
      if (items !== undefined) {
        this.#drop(candidate, items, 'full');
        return true;
      }
    }
    return false;
  }

  #drop(lane: Lane, items: number, reason: DropReason): void {
    if (items > 0) {
      const key = `${lane} ${reason}`;
      this.#dropped.set(key, (this.#dropped.get(key) ?? 0) + items);
      this.#options.onDrop?.(lane, items, reason);
    }
  }

  /** How many items a damaged record held is unknown; one at least. */
  #lose(loss: LaneLoss): void {
    this.#damaged.push(loss);
    this.#damaged.splice(0, this.#damaged.length - maxNamed);
    this.#drop(loss.lane, 1, 'damaged');
    this.#options.onDamage?.(loss);
  }

  #openGroup() {
    let finish!: (error?: unknown) => void;
    const done = new Promise<void>((resolve, reject) => {
      finish = (error) => (error === undefined ? resolve() : reject(error));
    });
    // Each put waits for it; the group alone must not count as an unhandled rejection.
    done.catch(() => undefined);
    // After an urgent put it finds nothing left to do.
    this.#options.scope.timeout('sync the buffer', groupMs, () => this.#sync());
    return { done, finish };
  }

  async #sync(): Promise<void> {
    await this.#inTurn(async () => {
      const group = this.#group;
      this.#group = undefined;
      try {
        for (const queue of this.#queues.values()) {
          await queue.sync();
        }
        group?.finish();
      } catch (error) {
        group?.finish(errors.buffer_sync({ cause: messageOf(error) }, { cause: error }));
      }
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #queue(lane: Lane): Queue {
    return this.#queues.get(lane)!;
  }
}

const instant = (at: number | undefined): string | null =>
  at === undefined ? null : timestamp(at);

/** Returns the part of the disk that the buffer may use. */
export function budgetOf(folder: string, maxBytes: number, share: number): number {
  const { blocks, bsize } = statfsSync(folder);
  return Math.max(1024 * 1024, Math.min(maxBytes, Math.floor(blocks * bsize * share)));
}
