import type { Writable } from 'node:stream';

import type { Socket } from 'svc/sdk';

import { limits } from '../protocol/limits.ts';

export interface InputOptions {
  readonly channel: Writable;
  readonly after: (ms: number, work: () => void) => void;
  readonly now: () => number;
}

/**
 * Input on its way to the device: no faster than it is read there, and no faster than people type
 * and paste.
 */
export class Input {
  readonly #channel: Writable;
  readonly #after: InputOptions['after'];
  readonly #now: () => number;
  #socket: Socket | undefined;
  #typed = 0;
  #allowance: number = limits.inputBytes;
  #refilledAt: number;
  #isFull = false;
  #isTooFast = false;

  constructor({ channel, after, now }: InputOptions) {
    this.#channel = channel;
    this.#after = after;
    this.#now = now;
    this.#refilledAt = now();
  }

  /** Bytes since the beginning. */
  get typed(): number {
    return this.#typed;
  }

  push(bytes: Uint8Array): void {
    this.#typed += bytes.length;
    this.#refill();
    this.#allowance -= bytes.length;
    if (!this.#isTooFast) {
      this.#slowDown();
    }
    if (!this.#channel.write(bytes) && !this.#isFull) {
      this.#isFull = true;
      this.#channel.once('drain', () => {
        this.#isFull = false;
        this.#throttle();
      });
    }
    if (this.#isFull || this.#isTooFast) {
      this.#throttle();
    }
  }

  /** Makes this browser the one that has to wait, or none. */
  attach(socket: Socket | undefined): void {
    this.#socket = socket;
    this.#throttle();
  }

  #throttle(): void {
    if (this.#isFull || this.#isTooFast) {
      this.#socket?.pause();
    } else {
      this.#socket?.resume();
    }
  }

  #refill(): void {
    const at = this.#now();
    this.#allowance = Math.min(
      limits.inputBytes,
      this.#allowance + ((at - this.#refilledAt) * limits.inputBytesPerSecond) / 1_000,
    );
    this.#refilledAt = at;
  }

  /** A browser that was too fast waits until that is made up for. */
  #slowDown(): void {
    this.#isTooFast = this.#allowance < 0;
    if (this.#isTooFast) {
      this.#after(Math.ceil((-this.#allowance * 1_000) / limits.inputBytesPerSecond), () => {
        this.#refill();
        this.#slowDown();
        this.#throttle();
      });
    }
  }
}
