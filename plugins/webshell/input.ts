import type { Writable } from 'node:stream';

import type { Socket } from 'svc/sdk';

import { limits } from './limits.ts';

export interface InputOptions {
  readonly channel: Writable;
  readonly after: (ms: number, work: () => void) => void;
  readonly now: () => number;
}

/** What is typed, on its way to the device: no faster than it is read there, and no faster than people type and paste. */
export interface Input {
  push(bytes: Uint8Array): void;
  /** Bytes since the beginning. */
  readonly typed: number;
  /** From now on it is this browser that has to wait, or nobody. */
  attach(socket: Socket | undefined): void;
}

export function createInput({ channel, after, now }: InputOptions): Input {
  let socket: Socket | undefined;
  let typed = 0;
  let allowance: number = limits.inputBytes;
  let seenAt = now();
  let isFull = false;
  let isTooFast = false;

  function obey(): void {
    if (isFull || isTooFast) {
      socket?.pause();
    } else {
      socket?.resume();
    }
  }

  function refill(): void {
    const at = now();
    allowance = Math.min(limits.inputBytes, allowance + ((at - seenAt) * limits.inputBytesPerSecond) / 1_000);
    seenAt = at;
  }

  /** Whoever has come too fast waits until that is made up for. */
  function slowDown(): void {
    isTooFast = allowance < 0;
    if (isTooFast) {
      after(Math.ceil((-allowance * 1_000) / limits.inputBytesPerSecond), () => {
        refill();
        slowDown();
        obey();
      });
    }
  }

  return {
    get typed() {
      return typed;
    },
    push(bytes) {
      typed += bytes.length;
      refill();
      allowance -= bytes.length;
      if (!isTooFast) {
        slowDown();
      }
      if (!channel.write(bytes) && !isFull) {
        isFull = true;
        channel.once('drain', () => {
          isFull = false;
          obey();
        });
      }
      if (isFull || isTooFast) {
        obey();
      }
    },
    attach(next) {
      socket = next;
      obey();
    },
  };
}
