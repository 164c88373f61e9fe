import { writeSync } from 'node:fs';

import { openTracesStore } from '../../plugins/traces/store/store.ts';
import { bodyOf, spanId, startMs, traceId } from '../plugins/traces/bodies.ts';
import { quiet } from '../plugins/traces/store-house.ts';

const [, , folder, from] = process.argv;
const store = await openTracesStore({
  folder: folder!,
  log: quiet,
  now: () => startMs,
  limits: { headSpans: 200 },
});
let next = Number(from);
const writers = 8;

/**
 * Pushes continuously, reporting each acknowledged one to the parent, until the process is killed.
 * Every trace comes in two parts.
 */
async function write(): Promise<never> {
  for (;;) {
    const number = next++;
    for (const part of [1, 2]) {
      await patiently(() =>
        store.push(
          'otlp-proto',
          bodyOf(
            { 'service.name': `s${number % 5}` },
            {
              trace: traceId(number),
              id: spanId(part),
              startMs: startMs + number,
              attributes: { n: number },
            },
          ),
        ),
      );
      writeSync(1, `${number} ${part}\n`);
    }
    if (number % 97 === 0) {
      await store.tend();
    }
  }
}

async function patiently(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'rate_limited') {
        throw error;
      }
      await store.tend();
    }
  }
}

await Promise.all(Array.from({ length: writers }, write));
