import type { Shipping } from 'svc/contracts/edge-uplink';
import { isSvcError, type Logger, messageOf } from 'svc/sdk';

import { type Checkpoint, type Kept, saveCheckpoint } from './checkpoint.ts';
import type { Discovery } from './files/discovery.ts';
import type { Tails } from './files/tails.ts';
import type { JournalQueue } from './journal/journal-queue.ts';
import { Draft } from './lines/draft.ts';
import type { LineTimes } from './lines/line-times.ts';

export interface PumpParts {
  readonly folder: string;
  readonly from: string;
  readonly shipping: Shipping;
  readonly tails: Tails;
  readonly discovery: Discovery;
  readonly journal: JournalQueue | undefined;
  readonly times: { readonly files: LineTimes; readonly journal: LineTimes };
  readonly since: number;
  readonly rescanMs: number;
  readonly monotonic: () => number;
  readonly log: Logger;
  readonly shipped: (lines: number) => void;
}

/** A push on its way: written down with the positions it leads to, then shipped, in this order. */
interface Outgoing {
  readonly checkpoint: Checkpoint;
  readonly body: Uint8Array;
  readonly lines: number;
  written: boolean;
}

const draftsPerTick = 64;
const tidyMs = 5_000;
const patienceMs = [1_000, 2_000, 5_000, 15_000, 30_000];

/**
 * Pump that moves lines from files and journal to the manager, one push at a time; nothing is read
 * until the push is shipped.
 */
export class Pump {
  readonly #parts: PumpParts;
  #outgoing: Outgoing | undefined;
  #scannedAt = -Infinity;
  #tidiedAt = -Infinity;
  /** True if a shipped push is still stored with the checkpoint. */
  #loaded = false;
  #failures = 0;
  #retryAt = -Infinity;
  /** Reason why nothing proceeds at the moment. */
  trouble: string | undefined;

  /** `kept` is what an earlier process wrote down and may not have shipped. */
  constructor(parts: PumpParts, kept: Kept | undefined) {
    this.#parts = parts;
    if (kept?.body !== undefined) {
      this.#outgoing = {
        checkpoint: kept.checkpoint,
        body: kept.body,
        lines: kept.checkpoint.lines,
        written: true,
      };
    }
  }

  async tick(signal: AbortSignal): Promise<void> {
    const { tails, discovery, monotonic, rescanMs } = this.#parts;
    if (!(await this.#deliver(signal))) {
      return;
    }
    await tails.look(signal);
    if (monotonic() - this.#scannedAt >= rescanMs) {
      await discovery.scan(signal);
      this.#scannedAt = monotonic();
    }
    if ((tails.changed || tails.lost.changed) && !(await this.#tidy())) {
      return;
    }
    for (let i = 0; i < draftsPerTick && !signal.aborted; i++) {
      const draft = new Draft();
      this.#parts.journal?.take(draft);
      await tails.read(draft, signal);
      if (draft.lines === 0) {
        break;
      }
      this.#outgoing = {
        checkpoint: this.#checkpoint(draft.lines),
        body: await draft.body(),
        lines: draft.lines,
        written: false,
      };
      if (!(await this.#deliver(signal))) {
        return;
      }
    }
    if (this.#loaded && monotonic() - this.#tidiedAt >= tidyMs) {
      await this.#tidy();
    }
  }

  /** Leaves nothing behind that would have to be done again. */
  async settle(): Promise<void> {
    if (
      this.#outgoing === undefined &&
      (this.#loaded || this.#parts.tails.changed || this.#parts.tails.lost.list.length > 0)
    ) {
      await this.#tidy();
    }
  }

  /** Ships the pending push; returns whether nothing is pending any more. */
  async #deliver(signal: AbortSignal): Promise<boolean> {
    const outgoing = this.#outgoing;
    if (outgoing === undefined) {
      return true;
    }
    if (this.#parts.monotonic() < this.#retryAt || signal.aborted) {
      return false;
    }
    try {
      if (!outgoing.written) {
        await saveCheckpoint(this.#parts.folder, outgoing.checkpoint, outgoing.body);
        outgoing.written = true;
      }
      this.#loaded = true;
      await this.#ship(outgoing, signal);
    } catch (error) {
      this.#postpone(error);
      return false;
    }
    this.#outgoing = undefined;
    this.#succeed();
    this.#parts.shipped(outgoing.lines);
    return true;
  }

  async #ship({ body, lines }: Outgoing, signal: AbortSignal): Promise<void> {
    const { shipping, from } = this.#parts;
    const parcel = {
      signal: 'logs',
      path: '/loki/api/v1/push',
      contentType: 'application/json',
      contentEncoding: 'gzip',
      body,
      items: lines,
      from,
    } as const;
    await new Promise<void>((resolve, reject) => {
      const end = (): void => reject(new Error('this plugin is stopping; the push is kept'));
      signal.addEventListener('abort', end, { once: true });
      void shipping
        .ship(parcel)
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', end));
    });
  }

  async #tidy(): Promise<boolean> {
    try {
      await saveCheckpoint(this.#parts.folder, this.#checkpoint(0));
    } catch (error) {
      this.#postpone(error);
      return false;
    }
    this.#tidiedAt = this.#parts.monotonic();
    this.#loaded = false;
    this.#parts.tails.changed = false;
    this.#parts.tails.lost.changed = false;
    return true;
  }

  #checkpoint(lines: number): Checkpoint {
    const { since, times, tails, journal } = this.#parts;
    return {
      since,
      times: { files: times.files.last, journal: times.journal.last },
      places: tails.places,
      cursor: journal?.cursor,
      lost: tails.lost.list,
      lines,
    };
  }

  /** Postpones shipping; the lines stay in their files meanwhile. */
  #postpone(error: unknown): void {
    const wait = patienceMs[Math.min(this.#failures, patienceMs.length - 1)]!;
    const asked = isSvcError(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
    this.#retryAt = this.#parts.monotonic() + Math.max(wait, Math.min(asked, patienceMs.at(-1)!));
    if (this.#failures++ === 0) {
      this.#parts.log.warn(
        { event: 'edge-logs.paused', cause: messageOf(error) },
        'log reading paused: failed to pass lines to the uplink; retrying',
      );
    }
    this.trouble = `reading is paused: ${messageOf(error)}`;
  }

  #succeed(): void {
    if (this.#failures > 0) {
      this.#parts.log.info({}, 'log reading resumed');
    }
    this.#failures = 0;
    this.trouble = undefined;
  }
}
