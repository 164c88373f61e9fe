import { writeSync } from 'node:fs';

import { batchesIn, openIn, rowsOf, timeOf } from './metrics-crash-model.ts';

let batch = 0;
const store = await openIn(process.argv[2]!, () => timeOf(batch) + 60_000);
batch = await batchesIn(store);

/**
 * Writes continuously, reporting each acknowledged batch to the parent, until the process is
 * killed.
 */
for (; ; batch++) {
  const { rejected, reasons } = await store.write(rowsOf(batch));
  if (rejected > 0) {
    throw new Error(reasons.join('; '));
  }
  writeSync(1, `${batch}\n`);
  if (batch % 50 === 0) {
    void store.maintain();
  }
}
