import type { Duplex } from 'node:stream';

import { limits } from '../limits.ts';

/** Lets shells be read in turns, so that those which print without end leave the others, and everybody else, their time. */
export interface Turns {
  /**
   * From now on the stream waits for its turn, once it has brought more than a person reads. The returned function is told of
   * each keystroke: whoever types waits for the echo, so for a moment the turns of the others are shorter.
   */
  pace(stream: Duplex): () => void;
}

export interface TurnParts {
  readonly after: (ms: number, work: () => void) => unknown;
  readonly now: () => number;
}

export function createTurns({ after, now }: TurnParts): Turns {
  /** In the order in which they began to wait. */
  const waiting = new Set<Duplex>();
  /** When the next turn is due; undefined while nobody waits. */
  let due: number | undefined;
  /** How late the last one was: then others want the processor as well. */
  let late = 0;
  let typed: { readonly stream: Duplex; readonly at: number } | undefined;

  function queue(stream: Duplex): void {
    stream.pause();
    waiting.add(stream);
    arrange();
  }

  function arrange(): void {
    if (waiting.size > 0 && due === undefined) {
      const ms = limits.turnMs + Math.min(limits.turnYieldMs, Math.round(late) * 4);
      due = now() + ms;
      after(ms, next);
    }
  }

  function next(): void {
    late = Math.max(0, now() - due! - 1);
    due = undefined;
    const [first] = waiting;
    if (first) {
      waiting.delete(first);
      const isTypedBeside = typed !== undefined && typed.stream !== first && now() - typed.at < limits.typedMs;
      read(first, isTypedBeside ? limits.typedTurnBytes : limits.turnBytes);
    }
    arrange();
  }

  /** So much of what has arrived, which as a rule lets it wait again; where there is less, whatever comes next. */
  function read(stream: Duplex, bytes: number): void {
    if (stream.readableLength > bytes) {
      stream.read(bytes);
    }
    if (!waiting.has(stream)) {
      stream.resume();
    }
  }

  return {
    pace(stream) {
      let allowance: number = limits.promptBytes;
      let seenAt = now();
      stream.on('data', (bytes: Buffer) => {
        const at = now();
        allowance = Math.min(limits.promptBytes, allowance + ((at - seenAt) * limits.promptBytesPerSecond) / 1_000) - bytes.length;
        seenAt = at;
        if (allowance < 0) {
          allowance = 0;
          queue(stream);
        }
      });
      stream.once('close', () => {
        waiting.delete(stream);
        typed = typed?.stream === stream ? undefined : typed;
      });
      return () => void (typed = { stream, at: now() });
    },
  };
}
