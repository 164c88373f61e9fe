import { closeSync, openSync, writeSync } from 'node:fs';

import { pushBodies } from '../plugins/logs/lines.ts';

/** Writes push bodies one behind the other, each with its length in four bytes before it: in a process of its own, so that making them costs the store nothing. */
const [path, count, seed, endMs] = process.argv.slice(2);
const file = openSync(path!, 'w');
const length = Buffer.alloc(4);
for (const body of pushBodies(Number(count), { seed: Number(seed), endMs: Number(endMs) })) {
  length.writeUInt32LE(body.length);
  writeSync(file, length);
  writeSync(file, body);
}
closeSync(file);
