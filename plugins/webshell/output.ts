import type { Socket } from 'svc/sdk';

import { limits } from './limits.ts';
import { createReplay } from './replay.ts';

export interface OutputOptions {
  readonly after: (ms: number, work: () => void) => void;
  readonly now: () => number;
  /** There is room again after `full`. */
  readonly drained: () => void;
}

/** What a shell prints, on its way to the browser: in few messages, and never more of them than the browser reads. */
export interface Output {
  push(bytes: Uint8Array): void;
  /** Bytes since the beginning. */
  readonly printed: number;
  /** The shell has to wait. */
  readonly full: boolean;
  /** From where on a browser can be shown what it has missed since `place`. */
  nearest(place: number): number;
  /** From now on this browser is shown what is printed, and first what was printed since `from`. `acks`: it tells what it has shown. */
  attach(socket: Socket, view: { readonly acks: boolean; readonly from: number }): void;
  /** Nobody is shown anything: what is printed now must still be here when somebody is. */
  detach(): void;
  /** The browser has shown so many bytes since the beginning. */
  acknowledge(bytes: number): void;
  end(): void;
}

export function createOutput({ after, now, drained }: OutputOptions): Output {
  const replay = createReplay();
  let socket: Socket | undefined;
  let pieces: Uint8Array[] = [];
  let waiting = 0;
  let counts = false;
  let acknowledged = 0;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let isTimed = false;
  let isFull = false;

  const sent = (): number => replay.end - waiting;
  const tooMuch = (): boolean => (socket?.bufferedBytes ?? 0) > limits.unsentBytes || (counts && replay.end - acknowledged > limits.unacknowledgedBytes);

  function flush(): void {
    if (waiting > 0) {
      const message = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      pieces = [];
      waiting = 0;
      flushedAt = now();
      socket?.send(message);
    }
  }

  function relieve(): void {
    if (isFull && !tooMuch()) {
      isFull = false;
      drained();
    }
  }

  function collect(bytes: Uint8Array): void {
    pieces.push(bytes);
    waiting += bytes.length;
    // The first keystroke after a pause is echoed at once; what follows it closely goes together, and so does a page of text.
    if (waiting >= limits.outputBytes || (waiting <= limits.echoBytes && now() - flushedAt >= limits.outputMs)) {
      flush();
    } else if (!isTimed) {
      isTimed = true;
      after(limits.outputMs, () => {
        isTimed = false;
        flush();
      });
    }
  }

  function leave(): void {
    socket = undefined;
    pieces = [];
    waiting = 0;
  }

  return {
    push(bytes) {
      replay.push(bytes);
      if (socket) {
        collect(bytes);
      }
      if (tooMuch()) {
        isFull = true;
        flush();
      }
    },
    get printed() {
      return replay.end;
    },
    get full() {
      return isFull;
    },
    nearest: (place) => replay.nearest(place),
    attach(next, { acks, from }) {
      leave();
      socket = next;
      counts = acks;
      acknowledged = from;
      next.onDrain(relieve);
      const missed = replay.since(from);
      for (let at = 0; at < missed.length; at += limits.outputBytes) {
        next.send(missed.subarray(at, at + limits.outputBytes));
      }
      relieve();
    },
    detach() {
      if (!counts) {
        acknowledged = sent();
        counts = true;
      }
      leave();
      relieve();
    },
    acknowledge(bytes) {
      acknowledged = Math.min(Math.max(acknowledged, bytes), sent());
      relieve();
    },
    end() {
      flush();
      leave();
    },
  };
}
