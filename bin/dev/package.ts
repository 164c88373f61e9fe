// `npm run package [-- --binary <file>] [-- --out <folder>]`: the single binary as a Debian package, with its user, units and settings. Without
// --binary it is built first.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

import { messageOf } from '../../core/sdk/index.ts';
import { withProgress } from '../product/with-progress.ts';
import { sizeOf } from 'svc/cli';
import { debianPackage } from './packaging/debian.ts';
import { version } from '../product/product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const buildMs = 600_000;

try {
  const { values } = parseArgs({
    options: {
      binary: { type: 'string' },
      out: { type: 'string', default: join(root, 'dist') },
      arch: { type: 'string' },
    },
  });
  const folder = resolve(values.out);
  mkdirSync(folder, { recursive: true });
  const binary =
    values.binary === undefined ? await built(join(folder, 'svc')) : resolve(values.binary);
  if (!existsSync(binary)) {
    throw new Error(`there is no file ${binary}: leave out --binary to build it`);
  }
  const arch = values.arch ?? process.arch;
  const out = join(folder, `svc_${version}_${arch === 'x64' ? 'amd64' : arch}.deb`);
  const workshop = mkdtempSync(join(folder, '.svc-package-'));
  try {
    const licence = readFileSync(join(root, 'LICENSE'), 'utf8');
    await withProgress(`Packing ${out}`, () =>
      debianPackage({ binary, version, arch, licence, out, workshop }),
    );
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  process.stdout.write(
    `${out}: ${sizeOf(statSync(out).size)}; install it with apt install ${out}\n`,
  );
} catch (error) {
  process.stderr.write(`npm run package: ${messageOf(error)}\n`);
  process.exitCode = 1;
}

async function built(file: string): Promise<string> {
  await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', join(root, 'bin/dev/build.ts'), '--out', file],
    { cwd: root, timeout: buildMs },
  );
  return file;
}
