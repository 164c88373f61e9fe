import { setImmediate as nextTurn } from 'node:timers/promises';

import { queryError } from './query-error.ts';

/** What one question may cost. Whoever reads or computes for it charges here, and stops when this throws. */
export interface Budget {
  readonly signal: AbortSignal;
  /** Charges samples, lines or spans that are held or looked at. */
  spend(samples: number): void;
  /** Charges bytes that are read or held. */
  bytes(count: number): void;
  /** To be called in every long loop: gives the event loop a turn when this question has held it for 8 ms. */
  breathe(): Promise<void> | undefined;
  /** Throws when the asker has gone or the time is up. */
  check(): void;
  readonly spent: { readonly samples: number; readonly bytes: number };
}

export interface BudgetOptions {
  readonly timeoutMs: number;
  readonly maxSamples?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Milliseconds that never jump. */
  readonly now: () => number;
}

const breathMs = 8;
const never = new AbortController().signal;

export function budget({ timeoutMs, maxSamples = 50_000_000, maxBytes = 4 * 1024 ** 3, signal = never, now }: BudgetOptions): Budget {
  const deadline = now() + timeoutMs;
  const spent = { samples: 0, bytes: 0 };
  let lastBreath = now();

  function checkAt(time: number): void {
    if (signal.aborted) {
      throw queryError('canceled', 'the query was canceled');
    }
    if (time >= deadline) {
      throw queryError('timeout', `the query timed out after ${timeoutMs / 1000} s: ask for a shorter window, or for fewer series or streams`);
    }
  }

  async function breath(): Promise<void> {
    await nextTurn();
    lastBreath = now();
    checkAt(lastBreath);
  }

  return {
    signal,
    spent,
    spend(samples) {
      spent.samples += samples;
      if (spent.samples > maxSamples) {
        throw queryError('too_large', `the query reads more than ${maxSamples} samples: ask for a shorter window, or for fewer series or streams`);
      }
    },
    bytes(count) {
      spent.bytes += count;
      if (spent.bytes > maxBytes) {
        throw queryError('too_large', `the query reads more than ${maxBytes} bytes: ask for a shorter window, or for fewer series or streams`);
      }
    },
    breathe() {
      const time = now();
      checkAt(time);
      return time - lastBreath > breathMs ? breath() : undefined;
    },
    check() {
      checkAt(now());
    },
  };
}
