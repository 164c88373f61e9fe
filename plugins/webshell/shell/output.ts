import type { Socket } from 'svc/sdk';

import { limits } from '../protocol/limits.ts';

export interface OutputOptions {
  readonly after: (ms: number, work: () => void) => void;
  readonly now: () => number;
  /** Called when there is capacity again after `full`. */
  readonly drained: () => void;
}

/**
 * Output of a shell on its way to the browser: in few messages, and never more of them than the
 * browser reads.
 */
export class Output {
  readonly #options: OutputOptions;
  readonly #replay = new Replay();
  #socket: Socket | undefined;
  #pieces: Uint8Array[] = [];
  #waiting = 0;
  #acks = false;
  #acknowledged = 0;
  #flushedAt = Number.NEGATIVE_INFINITY;
  #isTimed = false;
  #isFull = false;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Bytes since the beginning. */
  get printed(): number {
    return this.#replay.end;
  }

  /** The shell has to wait. */
  get full(): boolean {
    return this.#isFull;
  }

  push(bytes: Uint8Array): void {
    this.#replay.push(bytes);
    if (this.#socket) {
      this.#collect(bytes);
    }
    if (this.#isTooMuch()) {
      this.#isFull = true;
      this.#flush();
    }
  }

  /** Returns the earliest position at or after `place` from which output can be replayed. */
  nearest(place: number): number {
    return this.#replay.nearest(place);
  }

  /**
   * Attaches a browser that gets all output, starting with what was printed since `from`. `acks`:
   * it confirms what it has shown.
   */
  attach(socket: Socket, { acks, from }: { readonly acks: boolean; readonly from: number }): void {
    this.#leave();
    this.#socket = socket;
    this.#acks = acks;
    this.#acknowledged = from;
    socket.onDrain(() => this.#relieve());
    const missed = this.#replay.since(from);
    for (let at = 0; at < missed.length; at += limits.outputBytes) {
      socket.send(missed.subarray(at, at + limits.outputBytes));
    }
    this.#relieve();
  }

  /** Detaches the browser: from now on output must be kept until one reconnects. */
  detach(): void {
    if (!this.#acks) {
      this.#acknowledged = this.#sent;
      this.#acks = true;
    }
    this.#leave();
    this.#relieve();
  }

  /** Records that the browser has shown so many bytes since the beginning. */
  acknowledge(bytes: number): void {
    this.#acknowledged = Math.min(Math.max(this.#acknowledged, bytes), this.#sent);
    this.#relieve();
  }

  end(): void {
    this.#flush();
    this.#leave();
  }

  get #sent(): number {
    return this.#replay.end - this.#waiting;
  }

  #isTooMuch(): boolean {
    const unsent = this.#socket?.bufferedBytes ?? 0;
    return (
      unsent > limits.unsentBytes ||
      (this.#acks && this.#replay.end - this.#acknowledged > limits.unacknowledgedBytes)
    );
  }

  #collect(bytes: Uint8Array): void {
    const { after, now } = this.#options;
    this.#pieces.push(bytes);
    this.#waiting += bytes.length;
    // The first keystroke after a pause is echoed immediately; what follows closely is sent
    // together, and so is a page of text.
    if (
      this.#waiting >= limits.outputBytes ||
      (this.#waiting <= limits.echoBytes && now() - this.#flushedAt >= limits.outputMs)
    ) {
      this.#flush();
    } else if (!this.#isTimed) {
      this.#isTimed = true;
      after(limits.outputMs, () => {
        this.#isTimed = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    if (this.#waiting > 0) {
      const message = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#waiting = 0;
      this.#flushedAt = this.#options.now();
      this.#socket?.send(message);
    }
  }

  #relieve(): void {
    if (this.#isFull && !this.#isTooMuch()) {
      this.#isFull = false;
      this.#options.drained();
    }
  }

  #leave(): void {
    this.#socket = undefined;
    this.#pieces = [];
    this.#waiting = 0;
  }
}

/**
 * Last output of a shell, for a browser that reconnects. Positions are counted from its first byte.
 * Copies what it keeps: a piece of output is a small part of the memory that it came in.
 */
export class Replay {
  readonly #ring: Buffer;
  #end = 0;

  constructor(size: number = limits.replayBytes) {
    this.#ring = Buffer.alloc(size);
  }

  /** Total amount so far. */
  get end(): number {
    return this.#end;
  }

  push(bytes: Uint8Array): void {
    const size = this.#ring.length;
    const kept = bytes.subarray(Math.max(0, bytes.length - size));
    const at = (this.#end + bytes.length - kept.length) % size;
    this.#ring.set(kept.subarray(0, size - at), at);
    this.#ring.set(kept.subarray(size - at), 0);
    this.#end += bytes.length;
  }

  /** The place nearest to this one from which all is still here. */
  nearest(place: number): number {
    return Math.max(place, this.#end - this.#ring.length);
  }

  /** All from there on. */
  since(place: number): Buffer {
    const size = this.#ring.length;
    const from = this.nearest(place);
    const at = from % size;
    const length = this.#end - from;
    return Buffer.concat([
      this.#ring.subarray(at, Math.min(size, at + length)),
      this.#ring.subarray(0, Math.max(0, at + length - size)),
    ]);
  }
}
