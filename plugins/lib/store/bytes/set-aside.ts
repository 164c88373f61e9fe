import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const infix = '.damaged-';
/** Damaged files of one name that are kept, the newest ones. */
const maxKept = 3;

/** Renames a damaged file, which somebody may want to look into; returns its new name. */
export function setAside(path: string): string {
  const [folder, name] = [dirname(path), basename(path)];
  const numbers = numbersOf(folder, name);
  const kept = `${name}${infix}${Math.max(0, ...numbers) + 1}`;
  for (const ending of ['', '-wal', '-shm']) {
    if (existsSync(`${path}${ending}`)) {
      renameSync(`${path}${ending}`, join(folder, `${kept}${ending}`));
    }
  }
  for (const number of numbers.slice(0, -(maxKept - 1))) {
    for (const ending of ['', '-wal', '-shm']) {
      rmSync(join(folder, `${name}${infix}${number}${ending}`), { force: true });
    }
  }
  return kept;
}

/** Names of files that were set aside in a folder. */
export const asideIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.includes(infix) && /-\d+$/.test(name))
    .sort();

const numbersOf = (folder: string, name: string): number[] =>
  asideIn(folder)
    .filter((other) => other.startsWith(`${name}${infix}`))
    .map((other) => Number(other.slice(name.length + infix.length)))
    .sort((a, b) => a - b);
