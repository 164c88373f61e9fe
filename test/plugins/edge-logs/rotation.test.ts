import assert from 'node:assert/strict';
import { copyFileSync, existsSync, renameSync, truncateSync } from 'node:fs';
import { test } from 'node:test';

import { Machine } from './machine.ts';

/** The same numbers for the same seed: what was found once stays found. */
function numbers(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return () => {
    state = (state ^ (state << 13)) >>> 0;
    state = (state ^ (state >>> 17)) >>> 0;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
}

for (const rotation of ['copy', 'rename'] as const) {
  for (const seed of [1, 10, 13, 23, 28]) {
    test(`writing, rotating by ${rotation}, reading and being killed in the order of ${seed}: every line once, in order`, async (t) => {
      const random = numbers(seed);
      const machine = new Machine(t);
      machine.now -= 60_000;
      await machine.start();
      await machine.tick();
      let written = 0;
      let rest = '';
      const write = (): void => {
        for (let i = Math.floor(random() * 3); i >= 0; i--) {
          rest += `line ${++written} ${'x'.repeat(written % 30)}\n`;
        }
        const cut = random() < 0.3 ? rest.length - 1 - Math.floor(random() * 5) : rest.length;
        machine.append('a.log', rest.slice(0, cut));
        rest = rest.slice(cut);
      };
      const rotate = (): void => {
        const path = machine.path('a.log');
        if (rest !== '' || !existsSync(path)) {
          return;
        }
        for (let i = 30; i >= 1; i--) {
          if (existsSync(`${path}.${i}`)) {
            renameSync(`${path}.${i}`, `${path}.${i + 1}`);
          }
        }
        if (rotation === 'rename') {
          renameSync(path, `${path}.1`);
        } else {
          copyFileSync(path, `${path}.1`);
          truncateSync(path);
        }
      };
      for (let i = 0; i < 60; i++) {
        const dice = random();
        await (dice < 0.5 ? write() : dice < 0.65 ? rotate() : dice < 0.9 ? machine.tick() : machine.start());
      }
      machine.append('a.log', rest);
      for (let i = 0; i < 40; i++) {
        await machine.tick();
      }
      const shipped = [...new Map(machine.shipped.map(({ nanos, line }) => [`${nanos} ${line}`, { at: BigInt(nanos), line }])).values()];
      const inOrder = shipped.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ line }) => Number(line.split(' ')[1]));
      assert.deepEqual(
        inOrder,
        Array.from({ length: written }, (_, i) => i + 1),
      );
    });
  }
}
