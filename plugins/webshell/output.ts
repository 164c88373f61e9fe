import type { Socket } from 'svc/sdk';

import { limits } from './limits.ts';

export interface OutputOptions {
  readonly socket: Socket;
  readonly after: (ms: number, work: () => void) => void;
  readonly now: () => number;
  /** There is room again after `full`. */
  readonly drained: () => void;
}

/** What a shell prints, on its way to the browser: in few messages, and never more of them than the browser reads. */
export interface Output {
  push(bytes: Uint8Array): void;
  /** The shell has to wait. */
  readonly full: boolean;
  /** The browser has shown so many bytes since the beginning. */
  acknowledge(bytes: number): void;
  /** From now on the browser tells what it has shown. */
  expectAcknowledgements(): void;
  flush(): void;
  end(): void;
}

export function createOutput({ socket, after, now, drained }: OutputOptions): Output {
  let pieces: Uint8Array[] = [];
  let waiting = 0;
  let sent = 0;
  let acknowledged: number | undefined;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let isTimed = false;
  let isFull = false;
  let hasEnded = false;

  const tooMuch = (): boolean =>
    socket.bufferedBytes > limits.unsentBytes || (acknowledged !== undefined && sent + waiting - acknowledged > limits.unacknowledgedBytes);

  function flush(): void {
    if (waiting === 0 || hasEnded) {
      return;
    }
    const message = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    pieces = [];
    waiting = 0;
    sent += message.length;
    flushedAt = now();
    socket.send(message);
  }

  function relieve(): void {
    if (isFull && !tooMuch() && !hasEnded) {
      isFull = false;
      drained();
    }
  }

  socket.onDrain(relieve);
  return {
    push(bytes) {
      pieces.push(bytes);
      waiting += bytes.length;
      // The first keystroke after a pause is echoed at once; what follows it closely goes together.
      if (waiting >= limits.outputBytes || now() - flushedAt >= limits.outputMs) {
        flush();
      } else if (!isTimed) {
        isTimed = true;
        after(limits.outputMs, () => {
          isTimed = false;
          flush();
        });
      }
      if (tooMuch()) {
        isFull = true;
        flush();
      }
    },
    get full() {
      return isFull;
    },
    acknowledge(bytes) {
      if (acknowledged !== undefined) {
        acknowledged = Math.min(Math.max(acknowledged, bytes), sent);
        relieve();
      }
    },
    expectAcknowledgements() {
      acknowledged = 0;
    },
    flush,
    end() {
      flush();
      hasEnded = true;
    },
  };
}
