import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Worker } from 'node:worker_threads';

import { openIn } from '../storage/folder.ts';
import { rotationOf } from './rotation-model.ts';

/** Rotates the key of a data folder and dies at the n-th step that leaves a trace: a call on a file, or a message to the database's writer. */
const [dir, dieAt] = [process.argv[2]!, Number(process.argv[3])];
let steps = 0;

function step(): void {
  steps += 1;
  if (steps === dieAt) {
    process.kill(process.pid, 'SIGKILL');
  }
}

const storage = await openIn(dir);
for (const name of [
  'openSync',
  'writeFileSync',
  'fsyncSync',
  'closeSync',
  'renameSync',
  'rmSync',
] as const) {
  const original = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      step();
      return original(...args);
    },
  });
}
syncBuiltinESMExports();
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function postMessage(...args: Parameters<typeof post>) {
  step();
  post.apply(this, args);
};

const { resealed } = await rotationOf(storage).rotate();
step();
// Not by the usual end, whose own steps would count.
process.stdout.write(JSON.stringify({ steps, resealed }), () => process.exit(0));
