import type { Scope } from 'svc/sdk';

/** A wait that can be cut short: by `wake`, or by the end of the scope. */
export interface Pause {
  wait(ms: number): Promise<void>;
  wake(): void;
}

export function createPause(scope: Pick<Scope, 'timeout' | 'signal'>, label: string): Pause {
  let wakeUp: (() => void) | undefined;
  let awake = false;
  return {
    async wait(ms) {
      if (awake || scope.signal.aborted) {
        awake = false;
        return;
      }
      await new Promise<void>((resolve) => {
        const done = (): void => {
          wakeUp = undefined;
          awake = false;
          scope.signal.removeEventListener('abort', done);
          void timer?.();
          resolve();
        };
        wakeUp = done;
        scope.signal.addEventListener('abort', done, { once: true });
        const timer = Number.isFinite(ms) ? scope.timeout(label, ms, done) : undefined;
      });
    },
    wake() {
      awake = true;
      wakeUp?.();
    },
  };
}
