import { writeSync } from 'node:fs';

import { openIn } from '../storage/folder.ts';
import { perform, stateOf, writers } from './crash-model.ts';

const storage = await openIn(process.argv[2]!);
const found = await stateOf(storage);

/**
 * Makes one write after another, reporting each acknowledged one to the parent, until the process
 * is killed.
 */
async function write(writer: number): Promise<never> {
  for (let operation = found.get(writer)!.operations + 1; ; operation++) {
    await perform(storage, writer, operation);
    writeSync(1, `${writer} ${operation}\n`);
  }
}

await Promise.all(writers.map(write));
