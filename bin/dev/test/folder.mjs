// Folder for what the tests of one run write. It is deleted with them, so nothing in it needs a
// disk.
import { mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
/** Space needed by a run of all tests, with a margin: containers often have 64 MB there. */
const neededBytes = 3 * 1024 ** 3;

/**
 * Creates a folder in memory, without waits for a disk; among the temporary ones if that is too
 * small, or nothing there may be executed.
 */
export function testFolder() {
  return mkdtempSync(join(memoryServes() ? memory : tmpdir(), 'svc-'));
}

function memoryServes() {
  try {
    const { bavail, bsize } = statfsSync(memory);
    const [, , , options] = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, place]) => place === memory);
    return bavail * bsize >= neededBytes && !options.split(',').includes('noexec');
  } catch {
    // No such memory on this system.
    return false;
  }
}
