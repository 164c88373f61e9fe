import type { Duplex } from 'node:stream';

import { limits } from '../protocol/limits.ts';

export interface TurnParts {
  readonly after: (ms: number, work: () => void) => unknown;
  readonly now: () => number;
}

/** Lets shells be read in turns, so that those which print without end leave the others, and all other work, their time. */
export class Turns {
  readonly #after: TurnParts['after'];
  readonly #now: () => number;
  /** Remaining allowance of each stream, with its time. */
  readonly #allowances = new WeakMap<Duplex, { readonly bytes: number; readonly at: number }>();
  /** Waiting streams, longest wait first. */
  readonly #waiting = new Set<Duplex>();
  /** A turn is due, or taken. */
  #isArranged = false;
  /** Delay of the last turn, which shows that other work needs the processor as well. */
  #lateMs = 0;
  #typed: { readonly stream: Duplex; readonly at: number } | undefined;

  constructor({ after, now }: TurnParts) {
    this.#after = after;
    this.#now = now;
  }

  /**
   * Makes the stream take turns once it has brought more than a person reads. Returns a function to
   * call at each keystroke: a person who types waits for the echo, so for a moment the turns of
   * others are shorter and further apart.
   */
  pace(stream: Duplex): () => void {
    this.#allow(stream, limits.promptBytes);
    stream.on('data', (piece: Buffer) => this.#charge(stream, piece.length));
    stream.once('close', () => {
      this.#waiting.delete(stream);
      this.#typed = this.#typed?.stream === stream ? undefined : this.#typed;
    });
    return () => void (this.#typed = { stream, at: this.#now() });
  }

  #allow(stream: Duplex, bytes: number): void {
    this.#allowances.set(stream, { bytes, at: this.#now() });
  }

  #charge(stream: Duplex, length: number): void {
    const { bytes, at } = this.#allowances.get(stream)!;
    const grown = bytes + Math.floor(((this.#now() - at) * limits.promptBytesPerSecond) / 1_000);
    const rest = Math.min(limits.promptBytes, grown) - length;
    this.#allow(stream, Math.max(0, rest));
    if (rest <= 0) {
      this.#queue(stream);
    }
  }

  #queue(stream: Duplex): void {
    stream.pause();
    this.#waiting.add(stream);
    if (!this.#isArranged) {
      this.#arrange();
    }
  }

  /**
   * Schedules the next turn, leaving time for other work; if the last turn was late because of it,
   * twice as much.
   */
  #arrange(): void {
    const [first] = this.#waiting;
    this.#isArranged = first !== undefined;
    if (first) {
      const wanted = this.#isTypedBeside(first)
        ? limits.typedTurnMs + 4 * this.#lateMs
        : limits.turnMs + this.#lateMs;
      const ms = Math.min(Math.round(wanted), limits.longestTurnMs);
      const due = this.#now() + ms;
      this.#after(ms, () => {
        this.#lateMs = Math.max(0, this.#now() - due - 1);
        this.#turn();
      });
    }
  }

  #turn(): void {
    const [first] = this.#waiting;
    try {
      if (first) {
        this.#waiting.delete(first);
        this.#read(first, this.#isTypedBeside(first) ? limits.typedTurnBytes : limits.turnBytes);
      }
    } finally {
      this.#arrange();
    }
  }

  /**
   * Reads this much of what has arrived, which usually makes it wait again; if there is less, also
   * from what comes next.
   */
  #read(stream: Duplex, bytes: number): void {
    this.#allow(stream, bytes);
    for (let piece: unknown = stream; piece !== null && !this.#waiting.has(stream);) {
      piece = stream.read(Math.min(stream.readableLength, this.#allowances.get(stream)!.bytes));
    }
    if (!this.#waiting.has(stream)) {
      stream.resume();
    }
  }

  #isTypedBeside(stream: Duplex): boolean {
    return (
      this.#typed !== undefined &&
      this.#typed.stream !== stream &&
      this.#now() - this.#typed.at < limits.typedMs
    );
  }
}
