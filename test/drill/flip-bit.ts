import { closeSync, openSync, readSync, statSync, utimesSync, writeSync } from 'node:fs';

/** Flips one bit of a file, which keeps its times: a disk that errs tells nobody. */
export function flipBit(path: string, at: number): void {
  const { atime, mtime } = statSync(path);
  const descriptor = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  readSync(descriptor, byte, 0, 1, at);
  byte[0]! ^= 1 << (at % 8);
  writeSync(descriptor, byte, 0, 1, at);
  closeSync(descriptor);
  utimesSync(path, atime, mtime);
}
