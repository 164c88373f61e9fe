import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { flippedStores } from './bit-flips-stores.ts';

const [name, folder] = process.argv.slice(2) as [string, string];
const store = flippedStores.find((one) => one.name === name)!;

/** Damages the catalogue and has it rebuilt, reporting each time to the parent, until the process is killed. */
for (;;) {
  writeFileSync(join(folder, 'catalogue.db'), 'no catalogue any more');
  const open = await store.open(folder);
  await open.care('mend');
  await open.close();
  writeSync(1, '.');
}
