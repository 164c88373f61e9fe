// `npm run mutants [-- part-of-a-path …]`: plants each fault in a copy of the last commit, and tells which of them the tests of its room find.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Fault, faults } from './faults.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const deadlineMs = 15 * 60_000;

type Finding = 'found' | 'NOT FOUND' | 'out of time' | 'cannot be planted';

function main(parts: readonly string[]): number {
  const chosen = faults.filter(
    ({ file }) => parts.length === 0 || parts.some((part) => file.includes(part)),
  );
  const home = mkdtempSync(join(tmpdir(), 'svc-mutants-'));
  const copy = join(home, 'svc');
  git('worktree', 'add', '--detach', '--quiet', copy, 'HEAD');
  try {
    lendPackages(copy);
    const findings = chosen.map((fault) => {
      const began = performance.now();
      const finding = tried(fault, copy);
      console.log(
        `${finding.padEnd(18)} ${String(Math.round((performance.now() - began) / 1_000)).padStart(4)} s  ${fault.file}`,
      );
      return finding;
    });
    const found = findings.filter((finding) => finding === 'found').length;
    console.log(`${found} of ${chosen.length} planted faults were found`);
    return found === chosen.length && found > 0 ? 0 : 1;
  } finally {
    git('worktree', 'remove', '--force', copy);
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Shares the packages; what is built and stored next to them is the copy's own, and deleted with
 * it.
 */
function lendPackages(copy: string): void {
  const [from, to] = [root, copy].map((place) => join(place, 'node_modules')) as [string, string];
  mkdirSync(to);
  for (const name of readdirSync(from).filter((each) => each !== '.cache')) {
    symlinkSync(join(from, name), join(to, name));
  }
}

/** Puts the file back, so that the next fault stands alone. */
function tried({ file, find, put, tests }: Fault, copy: string): Finding {
  const path = join(copy, file);
  const text = readOr(path, '');
  if (text.split(find).length !== 2) {
    return 'cannot be planted';
  }
  writeFileSync(
    path,
    text.replace(find, () => put),
  );
  try {
    const { status } = spawnSync(process.execPath, ['bin/dev/test/test.mjs', ...tests], {
      cwd: copy,
      stdio: 'ignore',
      timeout: deadlineMs,
    });
    return status === null ? 'out of time' : status === 0 ? 'NOT FOUND' : 'found';
  } finally {
    writeFileSync(path, text);
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has moved: the fault cannot be planted, which is told.
    return otherwise;
  }
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' });

process.exitCode = main(process.argv.slice(2));
