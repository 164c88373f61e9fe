import { type MaybePromise, SvcError } from '../sdk/index.ts';

/** Gives `work` `ms` to finish; the sentence of the error names what hung. */
export async function within<T>(ms: number, what: string, work: () => MaybePromise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new SvcError('unavailable', `${what} did not finish within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([Promise.resolve().then(work), late]);
  } finally {
    clearTimeout(timer);
  }
}
