import type { Scope } from 'svc/sdk';

import { errors } from './errors.ts';

/** Lets other work run before the next slice of a long walk. */
export type Pause = () => Promise<void>;

/** Pauses that end with the scope: a walk through a million rows does not outlive its plugin. */
export function pausesOf(scope: Scope): Pause {
  return () =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(errors.being_replaced({ retryAfterSeconds: 1 }));
      scope.timeout('the next slice', 0, () => {
        scope.signal.removeEventListener('abort', ended);
        resolve();
      });
      scope.signal.addEventListener('abort', ended, { once: true });
    });
}
