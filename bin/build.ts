// `npm run build [-- --out <file>]`: the whole product as one executable file, for the machine it is built on, and beside it
// `<file>.cdx.json`, which says what it is made of.
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { messageOf } from '../core/sdk/index.ts';
import { withProgress } from './cli/progress.ts';
import { sizeOf } from './cli/size.ts';
import { assemble } from './packaging/assemble.ts';
import { cargo } from './packaging/cargo.ts';
import { placeBill } from './packaging/place-bill.ts';
import { entryText, programs } from './packaging/programs.ts';
import { version } from './product.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const began = performance.now();

try {
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist', 'svc') } } });
  const out = resolve(values.out);
  await withProgress(`Building ${out}`, () => buildBinary(out));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${out}: svc ${version}, ${sizeOf((await stat(out)).size)}, built in ${seconds} s with node ${process.version}\n`);
} catch (error) {
  process.stderr.write(`npm run build: ${messageOf(error)}\n`);
  process.exitCode = 1;
}

async function buildBinary(out: string): Promise<void> {
  await mkdir(dirname(out), { recursive: true });
  // Beside the result, so that it gets its name by one rename.
  const workshop = await mkdtemp(join(dirname(out), '.svc-build-'));
  try {
    const assets = new Map([...(await programs(root)), ...(await cargo(root, version))]);
    await assemble(out, await entryText(root), assets, workshop);
    placeBill(`${out}.cdx.json`, root, version);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}
