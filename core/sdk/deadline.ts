import type { MaybePromise } from './scope.ts';

/** Settles like `work`, or after `ms` as `late` says; what ends later goes unheard. The process waits for it, unless `idle`. */
export function withDeadline<T>(work: PromiseLike<T>, ms: number, late: () => MaybePromise<T>, { idle = false } = {}): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => resolve(late()), ms);
    if (idle) {
      timer.unref();
    }
    void work.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
