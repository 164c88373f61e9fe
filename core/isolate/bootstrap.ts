import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file that a child starts with: all of `child-main.ts` as one CommonJS text, named after its content. */
export async function bootstrapFile(cacheDir: string): Promise<string> {
  const text = await bootstrapText();
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const file = join(await realpath(cacheDir), `child-${hash}.cjs`);
  if (!(await holds(file, text))) {
    await place(file, text);
  }
  return file;
}

let bundled: Promise<string> | undefined;

/** Bundled once per process; a failure is tried again. */
export function bootstrapText(): Promise<string> {
  bundled ??= bundle().catch((error: unknown) => {
    bundled = undefined;
    throw error;
  });
  return bundled;
}

async function bundle(): Promise<string> {
  // Asked for here and not above: the single binary has no esbuild, and starts children in a role of its own.
  const { buildSync } = await import('esbuild');
  // By a process that ends with it: the one of plugins may be stopped at any moment.
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL('./child-main.ts', import.meta.url))],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

/** A file of that name with other content was torn by a crash or touched by somebody; either way it is replaced. */
async function holds(file: string, text: string): Promise<boolean> {
  try {
    return (await readFile(file, 'utf8')) === text;
  } catch {
    // Absent or unreadable: placing it tells what is wrong, if anything.
    return false;
  }
}

async function place(file: string, text: string): Promise<void> {
  const staged = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(staged, text, { flag: 'wx', mode: 0o500 });
    // The mode above passed through the umask.
    await chmod(staged, 0o500);
    await rename(staged, file);
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
}
