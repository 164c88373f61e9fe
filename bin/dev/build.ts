// `npm run build [-- --out <file>]`: the whole product as one executable file, for the machine it is built on, and beside it
// `<file>.cdx.json`, which says what it is made of. With `--sign <key file>` also `<file>.sha256` and `<file>.sig`, and the file carries the
// public key, by which it knows the versions after it: that of config/release-key, which `--release-key <key>` stands for.
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { messageOf } from '../../core/sdk/index.ts';
import { withProgress } from '../product/with-progress.ts';
import { sizeOf } from 'svc/cli';
import { assemble } from './packaging/assemble.ts';
import { cargo } from './packaging/cargo.ts';
import { signRelease } from './packaging/pack-signature.ts';
import { placeBill } from './packaging/place-bill.ts';
import { sha256 } from './packaging/prebuilt-plugin.ts';
import { entryText, programs } from './packaging/programs.ts';
import { version } from '../product/product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const began = performance.now();

try {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(root, 'dist', 'svc') },
      sign: { type: 'string' },
      'release-key': { type: 'string' },
    },
  });
  const out = resolve(values.out);
  const keyFile = values.sign === undefined ? undefined : resolve(values.sign);
  const signing = keyFile === undefined ? undefined : signRelease('', keyFile).public_key;
  const releaseKey = values['release-key'] ?? committedKey() ?? signing;
  // Named by hand it is the next one, which a version that is signed with the old one brings.
  if (values['release-key'] === undefined && signing !== undefined && signing !== releaseKey) {
    throw new Error(
      `${keyFile} signs as ${signing}, but this build carries ${releaseKey}: put the former into config/release-key, or sign with the other key`,
    );
  }
  await withProgress(`Building ${out}`, () => buildBinary(out, releaseKey));
  if (keyFile !== undefined) {
    const hash = sha256(readFileSync(out));
    await writeFile(`${out}.sha256`, `${hash}  ${basename(out)}\n`);
    await writeFile(`${out}.sig`, `${signRelease(hash, keyFile).signature}\n`);
    process.stdout.write(`signed; its public key is ${releaseKey}\n`);
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(
    `${out}: svc ${version}, ${sizeOf((await stat(out)).size)}, built in ${seconds} s with node ${process.version}\n`,
  );
} catch (error) {
  process.stderr.write(`npm run build: ${messageOf(error)}\n`);
  process.exitCode = 1;
}

/** Returns the key of this checkout; undefined if there is none. */
function committedKey(): string | undefined {
  const lines = readFileSync(join(root, 'config/release-key'), 'utf8').split('\n');
  return lines.map((line) => line.trim()).find((line) => line !== '' && !line.startsWith('#'));
}

async function buildBinary(out: string, releaseKey: string | undefined): Promise<void> {
  await mkdir(dirname(out), { recursive: true });
  // Beside the result, so that it gets its name by one rename.
  const workshop = await mkdtemp(join(dirname(out), '.svc-build-'));
  try {
    const assets = new Map([
      ...(await programs(root)),
      ...(await cargo(root, version, releaseKey)),
    ]);
    await assemble(out, await entryText(root), assets, workshop);
    placeBill(`${out}.cdx.json`, root, version);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}
