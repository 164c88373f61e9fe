import { writeSync } from 'node:fs';

import { openIn, recordOf, replayed, writers } from './telemetry-wal-model.ts';

const wal = await openIn(process.argv[2]!);
const found = await replayed(wal);

/**
 * Writes one record after another, reporting each acknowledged one to the parent, until the process
 * is killed.
 */
async function write(writer: number): Promise<never> {
  for (let operation = found.get(writer)! + 1; ; operation++) {
    if (operation % 97 === 0) {
      await wal.cut();
    }
    await wal.append(...recordOf(writer, operation));
    writeSync(1, `${writer} ${operation}\n`);
  }
}

await Promise.all(writers.map(write));
