import { progress } from './progress.mjs';

/** Tells on standard error what takes so long, and how it went. */
export async function withProgress<T>(what: string, work: () => Promise<T>): Promise<T> {
  const line = progress(what);
  try {
    const result = await work();
    line.end(`${what}: done`);
    return result;
  } catch (error) {
    line.end(`${what}: failed`);
    throw error;
  }
}
