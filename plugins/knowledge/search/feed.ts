import { DueWork } from 'svc/flow';
import type { Logger, Tables, ThreadHandle } from 'svc/sdk';

import { ChangeLog } from '../documents/doc-store.ts';
import type { KnowledgeTables } from '../documents/tables.ts';
import { analysisNumber } from './analyze.ts';
import type { IndexPosition } from './index-file.ts';
import type { Remainder } from './index-jobs.ts';
import type { Which } from './open-index.ts';

export interface FeedParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly index: ThreadHandle;
  readonly log: Logger;
  readonly newLineage: () => string;
  readonly now: () => number;
  /** Calls once, after so many milliseconds. */
  readonly later: (ms: number, work: () => void) => void;
}

export interface FeedState {
  readonly state: 'starting' | 'indexing' | 'rebuilding' | 'ready';
  readonly documents: number;
  readonly chunks: number;
  /** Changes that searches do not see yet. */
  readonly behind: number;
  /** Progress of the index being rebuilt, from 0 to 1; null if none is. */
  readonly rebuilt: number | null;
  readonly last_error: string | null;
}

/** State key of the change log: the last indexed change, with its analysis version. */
const indexed = 'indexed';
const mark = (seq: number): string => `${analysisNumber} ${seq}`;

/** State key of a requested rebuild, until the new index is in use. */
const asked = 'rebuild_asked';

type Positions = Partial<Record<Which, IndexPosition>>;

const batchDocs = 64;
const batchBytes = 512 * 1024;
const applyMs = 5 * 60_000;
const retryMs = 2_000;
/** Further behind than this, searches do not wait for what was just written. */
const soon = 20;
const firstMs = 5_000;
const lookMs = 1_000;

/**
 * Brings changes of documents into the index, in their order, and a new index into the place of one that is no longer right. It
 * rests until there is a change that the index has not, or a question: before that nobody pays for its threads.
 */
export class Feed {
  readonly #parts: FeedParts;
  readonly #log: ChangeLog;
  readonly #loop: DueWork;
  #wantsAnew = false;
  #waiters: { readonly seq: number; readonly tell: () => void }[] = [];
  /** Last change in the index in use. */
  #served = 0;
  #isServing = false;
  #state: Omit<FeedState, 'last_error'> = {
    state: 'starting',
    documents: 0,
    chunks: 0,
    behind: 0,
    rebuilt: null,
  };
  /** Time since which there are changes to index. */
  #since: number | undefined;
  /** The most that there was to bring in since then. */
  #total = 0;
  /** Called after each step of the index in use. */
  onApplied: () => void = () => undefined;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#log = new ChangeLog(parts.tables.read);
    this.#loop = new DueWork({
      work: (signal) => this.#bring(signal),
      failed: (error, cause) => {
        parts.log.warn(
          { event: 'knowledge.index_delayed', error },
          `failed to index documents; retrying: ${cause}`,
        );
        // A file that SQLite finds damaged does not heal; and what was made anew may be half of one.
        this.#wantsAnew ||=
          this.#state.rebuilt !== null || /malformed|not a database|corrupt/i.test(cause);
      },
      retryMs,
      later: parts.later,
    });
  }

  /** Returns the current state; waits for the first look at the index. */
  async state(): Promise<FeedState> {
    if (this.#state.state === 'starting') {
      this.#loop.due();
      await this.#until(-1, lookMs);
    }
    return { ...this.#state, last_error: this.#loop.lastError };
  }

  /** Remaining work as known, without a look; undefined if there is none. */
  get remainder(): Remainder | undefined {
    const { behind } = this.#state;
    return this.#since === undefined
      ? undefined
      : {
          since: this.#since,
          done: Math.max(0, this.#total - behind),
          total: this.#total,
          error: this.#loop.lastError,
        };
  }

  /** Documents have changed. */
  changed(): void {
    this.#loop.due();
  }

  /** Rebuilds the index, even if svc ends before it is done; the one in use remains meanwhile. */
  async anew(): Promise<void> {
    await this.#parts.tables.write((tx) => new ChangeLog(tx).setState(asked, 'true'));
    this.#wantsAnew = true;
    this.#loop.due();
  }

  /** Resolves once what was written before is found, but no later than `ms`, and at once when that is much; the first index is waited for longer. */
  async caughtUp(ms: number): Promise<void> {
    if (!this.#isServing) {
      this.#loop.due();
      await this.#until(0, firstMs);
      return;
    }
    const seq = await this.#log.last();
    if (seq > this.#served && seq - this.#served <= soon) {
      await this.#until(seq, ms);
    }
  }

  /** Runs until the plugin stops. */
  async run(signal: AbortSignal): Promise<void> {
    this.#wantsAnew ||= (await this.#log.state(asked)) === 'true';
    if (
      this.#wantsAnew ||
      ((await this.#log.state(indexed)) ?? mark(0)) !== mark(await this.#log.last())
    ) {
      this.#loop.due();
    }
    await this.#loop.run(signal);
  }

  /** Resolves once the index that serves has got so far, or after `ms`; -1: once anything is known of it. */
  #until(seq: number, ms: number): Promise<void> {
    return new Promise((tell) => {
      const waiter = { seq, tell };
      this.#waiters.push(waiter);
      this.#parts.later(ms, () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        tell();
      });
    });
  }

  async #bring(signal: AbortSignal): Promise<void> {
    this.#since ??= Math.floor(this.#parts.now());
    let positions = await this.#positions();
    if (
      this.#wantsAnew ||
      positions.serving === undefined ||
      positions.serving.analysis !== analysisNumber
    ) {
      await this.#call('begin', { lineage: await this.#lineage() });
      this.#wantsAnew = false;
      positions = await this.#positions();
    }
    let seq: Record<Which, number> = {
      serving: positions.serving?.seq ?? 0,
      next: positions.next?.seq ?? 0,
    };
    if (positions.serving !== undefined) {
      this.#serves(seq.serving);
    }
    for (let isMore = true; isMore && !signal.aborted;) {
      const last = await this.#log.last();
      isMore = false;
      for (const which of ['serving', 'next'] as const) {
        if (positions[which] !== undefined && seq[which] < last) {
          seq = { ...seq, [which]: await this.#step(which, seq[which]) };
          isMore = true;
        }
      }
      this.#note(positions, seq, last);
      if (!isMore && positions.next !== undefined) {
        await this.#promote();
        positions = await this.#positions();
        seq = { serving: positions.serving!.seq, next: 0 };
        this.#serves(seq.serving);
      }
    }
    const now = await this.#positions();
    this.#state = {
      ...this.#state,
      state: 'ready',
      behind: 0,
      documents: now.serving?.docs ?? 0,
      chunks: now.serving?.chunks ?? 0,
      rebuilt: null,
    };
    await this.#settle(seq.serving);
    this.#since = signal.aborted ? this.#since : undefined;
    this.#total = 0;
  }

  /** The next changes into one index; resolves with the position that leads to. */
  async #step(which: Which, seq: number): Promise<number> {
    const changes = await this.#log.after(seq, batchDocs, batchBytes);
    if (changes.length === 0) {
      return seq;
    }
    await this.#call('apply', { which, from: seq, changes });
    const reached = changes.at(-1)!.seq;
    if (which === 'serving') {
      this.#serves(reached);
    }
    return reached;
  }

  async #promote(): Promise<void> {
    await this.#call('promote');
    await this.#call('sweep');
    if (!this.#wantsAnew && (await this.#log.state(asked)) === 'true') {
      await this.#parts.tables.write((tx) => new ChangeLog(tx).setState(asked, 'false'));
    }
  }

  #serves(seq: number): void {
    this.#served = seq;
    this.#isServing = true;
    this.#tell(seq);
    this.onApplied();
  }

  #tell(seq: number): void {
    this.#waiters.filter((waiter) => waiter.seq <= seq).forEach(({ tell }) => tell());
    this.#waiters = this.#waiters.filter((waiter) => waiter.seq > seq);
  }

  /** Positions in indexes of this database; one of another, or of a time that a restored backup took back, must not answer. */
  async #positions(): Promise<Positions> {
    const [positions, lineage, last] = [
      await this.#call<Positions>('positions'),
      await this.#lineage(),
      await this.#log.last(),
    ];
    const { serving } = positions;
    if (serving !== undefined && (serving.lineage !== lineage || serving.seq > last)) {
      this.#parts.log.warn(
        { event: 'knowledge.index_of_another' },
        'search index belongs to another database; rebuilding',
      );
      this.#isServing = false;
      await this.#call('discard');
      return {};
    }
    return positions;
  }

  async #lineage(): Promise<string> {
    const known = await this.#log.state('lineage');
    if (known !== undefined) {
      return known;
    }
    const made = this.#parts.newLineage();
    await this.#parts.tables.write((tx) => new ChangeLog(tx).setState('lineage', made));
    return made;
  }

  /** The index has all up to here: the next start need not look into it. */
  async #settle(upTo: number): Promise<void> {
    const isNoted = (await this.#log.state(indexed)) === mark(upTo);
    if (!isNoted || (await this.#log.hasForgettable(upTo))) {
      await this.#parts.tables.write(async (tx) => {
        const log = new ChangeLog(tx);
        await log.forget(upTo);
        await log.setState(indexed, mark(upTo));
      });
    }
  }

  #note(positions: Positions, seq: Record<Which, number>, last: number): void {
    const isNew = positions.next !== undefined;
    const behind = Math.max(0, last - seq.serving);
    this.#total = Math.max(this.#total, behind);
    this.#state = {
      ...this.#state,
      behind,
      state: isNew ? 'rebuilding' : behind > 0 ? 'indexing' : this.#state.state,
      rebuilt: isNew ? Math.min(1, seq.next / Math.max(1, last)) : null,
    };
    this.#tell(-1);
  }

  #call<R>(method: string, input?: unknown): Promise<R> {
    return this.#parts.index.call<R>(method, input, { timeoutMs: applyMs });
  }
}
