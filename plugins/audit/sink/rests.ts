import type { Scope } from 'svc/sdk';

/** Rests of a loop, which end early when there is something to do, and with the scope. */
export function restsOf(scope: Scope): {
  readonly rest: (ms: number) => Promise<void>;
  readonly wake: () => void;
} {
  let isDue = false;
  let end = (): void => undefined;
  return {
    rest: (ms) =>
      new Promise((resolve) => {
        const done = (): void => {
          isDue = false;
          end = () => undefined;
          void unset();
          scope.signal.removeEventListener('abort', done);
          resolve();
        };
        const unset = scope.timeout('look for entries to ship', ms, done);
        scope.signal.addEventListener('abort', done, { once: true });
        end = done;
        void ((isDue || scope.signal.aborted) && done());
      }),
    // Between two rests, the next one is none.
    wake() {
      isDue = true;
      end();
    },
  };
}
