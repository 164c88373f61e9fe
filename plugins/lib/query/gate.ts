import { SvcError } from 'svc/sdk';
import { queryError } from './query-error.ts';

export interface QueryGate {
  /** Runs `work` when it is its turn, first come first served. A signal that aborts while it waits takes it out of the line. */
  run<T>(work: () => T | Promise<T>, signal?: AbortSignal): Promise<T>;
  readonly running: number;
  readonly waiting: number;
}

/** Lets few questions work at a time, so that each ends soon, and some more wait; a dashboard that opens is never refused for its size. */
export function queryGate({ atOnce = 4, waiting = 64 }: { readonly atOnce?: number; readonly waiting?: number } = {}): QueryGate {
  const line = new Set<() => void>();
  let running = 0;

  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        line.delete(enter);
        reject(queryError('canceled', 'the query was canceled while it waited for its turn'));
      };
      const enter = (): void => {
        line.delete(enter);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      line.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** A place that becomes free is handed on, never offered: nobody who comes later can take it from the first in line. */
  function handOn(): void {
    const [next] = line;
    if (next === undefined) {
      running--;
    } else {
      next();
    }
  }

  return {
    async run(work, signal) {
      if (signal?.aborted === true) {
        throw queryError('canceled', 'the query was canceled');
      }
      if (running < atOnce) {
        running++;
      } else if (line.size < waiting) {
        await turn(signal);
      } else {
        throw new SvcError('rate_limited', `${running} queries run and ${line.size} wait: try again in a moment`, { retryAfterSeconds: 1 });
      }
      try {
        return await work();
      } finally {
        handOn();
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return line.size;
    },
  };
}
