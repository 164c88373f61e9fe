import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

import { crc32 } from '../bytes/crc32.ts';

const sealOf = (path: string): string => `${path}.seal`;
const pieceBytes = 1024 * 1024;

/**
 * What became of a database file since it was closed in order. `unsealed`: nobody knows, as after a
 * kill.
 */
export type SealState = 'sealed' | 'changed' | 'unsealed';

/**
 * Notes the checksum of a closed file, so that the next opening knows whether any byte changed.
 * `mark` is something in it that every writer changes, also one that knows no seals.
 */
export function sealFile(path: string, mark = ''): void {
  const content = `${sumOf(path)} ${statSync(path).size} ${mark}`;
  writeFileSync(sealOf(path), `${crc32(Buffer.from(content))} ${content}`, { mode: 0o600 });
}

/** Reads the seal and takes it away: from now on the file changes. */
export function breakSeal(
  path: string,
  markIn: (path: string) => string | undefined = () => undefined,
): SealState {
  const state = stateOf(path, markIn);
  rmSync(sealOf(path), { force: true });
  return state;
}

function stateOf(path: string, markIn: (path: string) => string | undefined): SealState {
  if (!existsSync(sealOf(path))) {
    return 'unsealed';
  }
  const [own, ...content] = readFileSync(sealOf(path), 'latin1').split(' ');
  const [sum, size, mark] = content;
  // A damaged seal says nothing; and what a killed process left beside the file is newer than it.
  if (
    Number(own) !== crc32(Buffer.from(content.join(' '))) ||
    (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
  ) {
    return 'unsealed';
  }
  if (statSync(path).size === Number(size) && sumOf(path) === Number(sum)) {
    return 'sealed';
  }
  const found = markIn(path);
  return found === undefined || found === mark ? 'changed' : 'unsealed';
}

function sumOf(path: string): number {
  const descriptor = openSync(path, 'r');
  try {
    const piece = Buffer.allocUnsafeSlow(pieceBytes);
    let sum = 0;
    for (let at = 0; ;) {
      const count = readSync(descriptor, piece, 0, piece.length, at);
      if (count === 0) {
        return sum;
      }
      sum = crc32(piece.subarray(0, count), sum);
      at += count;
    }
  } finally {
    closeSync(descriptor);
  }
}
