import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Program of a child: CommonJS text that is stored as a file in `cacheDir`. */
export interface ChildOrigin {
  readonly program: string;
  readonly cacheDir: string;
  /** The single binary runs such a file in a role, and takes the flags of Node from its environment only. */
  readonly isBinary: boolean;
}

/** The file that a child starts with, named after its content. */
export async function programFile({
  program,
  cacheDir,
}: Pick<ChildOrigin, 'program' | 'cacheDir'>): Promise<string> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const hash = createHash('sha256').update(program).digest('hex').slice(0, 16);
  const file = join(await realpath(cacheDir), `child-${hash}.cjs`);
  if (!(await holds(file, program))) {
    await place(file, program);
  }
  return file;
}

/** A file of that name with other content was torn by a crash or changed by hand; either way it is replaced. */
async function holds(file: string, text: string): Promise<boolean> {
  try {
    return (await readFile(file, 'utf8')) === text;
  } catch {
    // Absent or unreadable: writing it reports what is wrong, if anything.
    return false;
  }
}

async function place(file: string, text: string): Promise<void> {
  const folder = await mkdtemp(`${file}.`);
  try {
    const staged = join(folder, 'child.cjs');
    await writeFile(staged, text, { flag: 'wx', mode: 0o555 });
    // The mode above passed through the umask.
    await chmod(staged, 0o555);
    await rename(staged, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
