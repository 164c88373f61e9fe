import type { Duplex } from 'node:stream';

import { limits } from '../limits.ts';

/** Lets shells be read in turns, so that those which print without end leave the others, and everybody else, their time. */
export interface Turns {
  /**
   * From now on the stream waits for its turn, once it has brought more than a person reads. The returned function is told of
   * each keystroke: whoever types waits for the echo, so for a moment the turns of the others are shorter and further apart.
   */
  pace(stream: Duplex): () => void;
}

export interface TurnParts {
  readonly after: (ms: number, work: () => void) => unknown;
  readonly now: () => number;
}

export function createTurns({ after, now }: TurnParts): Turns {
  /** What each may bring before it waits, as of when. */
  const allowances = new WeakMap<Duplex, { readonly bytes: number; readonly at: number }>();
  /** In the order in which they began to wait. */
  const waiting = new Set<Duplex>();
  /** A turn is due, or taken. */
  let isArranged = false;
  /** How late the last turn was: then others want the processor as well. */
  let late = 0;
  let typed: { readonly stream: Duplex; readonly at: number } | undefined;

  const isTypedBeside = (stream: Duplex): boolean => typed !== undefined && typed.stream !== stream && now() - typed.at < limits.typedMs;

  function queue(stream: Duplex): void {
    stream.pause();
    waiting.add(stream);
    if (!isArranged) {
      arrange();
    }
  }

  /** In between everybody else is served; when the last turn came late because of them, they have as long again. */
  function arrange(): void {
    const [first] = waiting;
    isArranged = first !== undefined;
    if (first) {
      const wanted = isTypedBeside(first) ? limits.typedTurnMs + 4 * late : limits.turnMs + late;
      const ms = Math.min(Math.round(wanted), limits.longestTurnMs);
      const due = now() + ms;
      after(ms, () => {
        late = Math.max(0, now() - due - 1);
        turn();
      });
    }
  }

  function turn(): void {
    const [first] = waiting;
    try {
      if (first) {
        waiting.delete(first);
        read(first, isTypedBeside(first) ? limits.typedTurnBytes : limits.turnBytes);
      }
    } finally {
      arrange();
    }
  }

  /** So much of what has arrived, which as a rule lets it wait again; where there is less, of what comes next. */
  function read(stream: Duplex, bytes: number): void {
    allowances.set(stream, { bytes, at: now() });
    for (let piece: unknown = stream; piece !== null && !waiting.has(stream);) {
      piece = stream.read(Math.min(stream.readableLength, allowances.get(stream)!.bytes));
    }
    if (!waiting.has(stream)) {
      stream.resume();
    }
  }

  return {
    pace(stream) {
      allowances.set(stream, { bytes: limits.promptBytes, at: now() });
      stream.on('data', (piece: Buffer) => {
        const { bytes, at } = allowances.get(stream)!;
        const grown = bytes + Math.floor(((now() - at) * limits.promptBytesPerSecond) / 1_000);
        const rest = Math.min(limits.promptBytes, grown) - piece.length;
        allowances.set(stream, { bytes: Math.max(0, rest), at: now() });
        if (rest <= 0) {
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
