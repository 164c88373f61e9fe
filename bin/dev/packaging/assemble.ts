import { execFile } from 'node:child_process';
import { appendFile, chmod, copyFile, open, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { behind } from '../../product/carried.ts';
import { threadAsset } from '../../product/contents.ts';

const execute = promisify(execFile);
const toolDeadlineMs = 120_000;
/** Marks in every Node binary the place where it looks for a program of its own. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Puts a program and its cargo into a copy of the running Node, which then is that program. */
export async function assemble(
  out: string,
  program: string,
  cargo: ReadonlyMap<string, Uint8Array>,
  workshop: string,
): Promise<void> {
  const at = (name: string): string => join(workshop, name);
  await writeFile(at('program.cjs'), program);
  await writeFile(at('sqlite.cjs'), cargo.get(threadAsset('better-sqlite3'))!);
  const recipe = {
    main: at('program.cjs'),
    output: at('blob'),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    useSnapshot: false,
    // The process of a pack's tables has nothing of svc but Node, which it asks for this.
    assets: { [threadAsset('better-sqlite3')]: at('sqlite.cjs') },
  };
  await writeFile(at('sea.json'), JSON.stringify(recipe));
  // By the Node that is injected into: the code cache of another one is useless.
  await run(process.execPath, ['--experimental-sea-config', at('sea.json')]);
  await copyFile(process.execPath, at('svc'));
  await chmod(at('svc'), 0o755);
  await withoutSymbols(at('svc'));
  const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js');
  await run(process.execPath, [
    postject,
    at('svc'),
    'NODE_SEA_BLOB',
    at('blob'),
    '--sentinel-fuse',
    fuse,
  ]);
  await appendFile(at('svc'), behind((await stat(at('svc'))).size, cargo));
  await rename(at('svc'), out);
  await unwritten(out);
}

/**
 * Drops a file from the page cache. Linux maps a program in pieces as large as those in which it
 * entered the page cache, and the injection writes it at once: an agent started from it has 53 MB
 * of it in its memory, until the next boot. Read from the disk on demand it has 38 (Linux 6.18).
 */
async function unwritten(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  await run('dd', [`if=${file}`, 'iflag=nocache', 'count=0']).catch(() => {
    process.stderr.write(
      `dd cannot take ${file} out of the page cache, so agents started from it before the next boot are 15 MB larger\n`,
    );
  });
}

/** 12 MB less. Before the injection: afterwards strip would take the program for debris. */
async function withoutSymbols(file: string): Promise<void> {
  await run('strip', [file]).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') {
      throw error;
    }
    process.stderr.write(
      'strip is not installed, so the binary keeps its symbols (Debian: apt-get install binutils)\n',
    );
  });
}

async function run(command: string, args: readonly string[]): Promise<void> {
  await execute(command, [...args], { timeout: toolDeadlineMs, killSignal: 'SIGKILL' });
}
