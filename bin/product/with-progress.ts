import { progress } from './progress.mjs';

/** Reports on standard error what takes so long, and its outcome. */
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
