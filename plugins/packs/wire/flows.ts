/** Max unread bytes of one body in transit; also the largest piece. */
const windowBytes = 256 * 1024;
const pieceBytes = 64 * 1024;

type Piece = Uint8Array | string;

/** Sending end of a body: continues as the other side reports what it has read. */
export class Outflow {
  #room = windowBytes;
  #over = false;
  #isStarved = false;
  #wake: (() => void) | undefined;

  /** True if it waits for its source. */
  get isStarved(): boolean {
    return this.#isStarved;
  }

  /** Sends what `source` yields; resolves when all is sent, or nobody reads any more. Rejects with the error of the source. */
  async pour(source: AsyncIterable<Piece>, send: (piece: Uint8Array) => void): Promise<void> {
    this.#isStarved = true;
    for await (const whole of source) {
      this.#isStarved = false;
      const bytes = typeof whole === 'string' ? Buffer.from(whole) : whole;
      for (let at = 0; at < bytes.length && !this.#over; at += pieceBytes) {
        const piece = bytes.subarray(at, at + pieceBytes);
        await this.#roomFor(piece.length);
        if (!this.#over) {
          send(piece);
        }
      }
      if (this.#over) {
        return;
      }
      this.#isStarved = true;
    }
    this.#isStarved = false;
  }

  /** Records that the other side has read so much. False if that is more than it was sent. */
  more(bytes: number): boolean {
    this.#room += bytes;
    this.#wake?.();
    return Number.isInteger(bytes) && bytes > 0 && this.#room <= windowBytes;
  }

  /** Ends the body because nobody reads it any more. */
  end(): void {
    this.#over = true;
    this.#wake?.();
  }

  async #roomFor(bytes: number): Promise<void> {
    while (this.#room < bytes && !this.#over) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    this.#room -= bytes;
  }
}

/** Receiving end of a body: buffers at most one window, and reports what was taken from it. */
export class Inflow implements AsyncIterable<Uint8Array> {
  readonly #pieces: Uint8Array[] = [];
  readonly #onRead: (bytes: number) => void;
  readonly #onLeft: () => void;
  #held = 0;
  #ending: { readonly error: Error | undefined } | undefined;
  #wake: (() => void) | undefined;

  /** Takes callbacks; `onLeft` is called if the reader stops before the end. */
  constructor(onRead: (bytes: number) => void, onLeft: () => void) {
    this.#onRead = onRead;
    this.#onLeft = onLeft;
  }

  /** True if it has bytes that nobody has read yet. */
  get isUnread(): boolean {
    return this.#held > 0;
  }

  /** Adds a piece; false if there was no capacity for it, or the body had ended. */
  push(piece: Uint8Array): boolean {
    this.#held += piece.length;
    this.#pieces.push(piece);
    this.#wake?.();
    return this.#ending === undefined && piece.length > 0 && this.#held <= windowBytes;
  }

  finish(error?: Error): void {
    this.#ending ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          // Held until its reader comes back for the next one.
          yield piece;
          this.#held -= piece.length;
          this.#onRead(piece.length);
        } else if (this.#ending === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        } else if (this.#ending.error === undefined) {
          return;
        } else {
          throw this.#ending.error;
        }
      }
    } finally {
      this.#pieces.length = 0;
      if (this.#ending === undefined) {
        this.#onLeft();
      }
    }
  }
}
