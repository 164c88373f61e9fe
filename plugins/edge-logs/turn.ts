import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Whose turn it is to read: a new generation of this plugin comes up while the old one still reads, and two must never. The answer
 * gives the turn back; undefined while another generation of this process has it. That of a process that is gone counts for nothing.
 */
export async function takeTurn(folder: string, process: string): Promise<(() => Promise<void>) | undefined> {
  const path = join(folder, 'reader');
  const holder = await readFile(path, 'utf8').catch(() => undefined);
  if (holder === process) {
    return undefined;
  }
  await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(process);
  } finally {
    await file.close();
  }
  return async () => await rm(path, { force: true });
}
