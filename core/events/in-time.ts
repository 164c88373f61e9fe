import { SvcError } from '../sdk/index.ts';

/** Gives `work` `ms` to finish; work that is late goes on unheard. */
export async function inTime<T>(ms: number, complaint: string, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new SvcError('unavailable', `${complaint} within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
