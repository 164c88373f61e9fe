import { writeSync } from 'node:fs';

import { openLogStore } from '../../plugins/logs/store/store.ts';
import { crashOptions, lineOf, writers } from './logs-crash-model.ts';

const [folder, ...begin] = process.argv.slice(2) as [string, ...string[]];
const store = await openLogStore({ folder, ...crashOptions });

/**
 * Pushes continuously, reporting each acknowledged one to the parent, until the process is killed.
 */
async function write(writer: number): Promise<never> {
  for (let push = Number(begin[writer]) + 1; ; push++) {
    const values = [0, 1, 2].map((line) => lineOf(writer, push, line));
    await store.push(
      'loki-json',
      Buffer.from(JSON.stringify({ streams: [{ stream: { app: `w${writer}` }, values }] })),
      {},
    );
    writeSync(1, `${writer} ${push}\n`);
    if (push % 50 === 0) {
      await store.tidy();
    }
  }
}

await Promise.all(writers.map(write));
