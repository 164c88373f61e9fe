import { type Scope, SvcError } from 'svc/sdk';

/** Lets other work run before the next slice of a long walk. */
export type Pause = () => Promise<void>;

/** Pauses that end with the scope: a walk through a million rows does not outlive its plugin. */
export function pausesOf(scope: Scope): Pause {
  return () =>
    new Promise((resolve, reject) => {
      const ended = (): void =>
        reject(
          new SvcError('unavailable', 'the audit trail is being replaced; ask again in a moment', {
            retryAfterSeconds: 1,
          }),
        );
      scope.timeout('the next slice', 0, () => {
        scope.signal.removeEventListener('abort', ended);
        resolve();
      });
      scope.signal.addEventListener('abort', ended, { once: true });
    });
}
