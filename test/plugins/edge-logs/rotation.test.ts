import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { findGenerations } from '../../../plugins/edge-logs/files/generations.ts';
import { openFile } from '../../../plugins/edge-logs/files/open-file.ts';
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
        await (dice < 0.5
          ? write()
          : dice < 0.65
            ? rotate()
            : dice < 0.9
              ? machine.tick()
              : machine.start());
      }
      machine.append('a.log', rest);
      for (let i = 0; i < 40; i++) {
        await machine.tick();
      }
      const shipped = [
        ...new Map(
          machine.shipped.map(({ nanos, line }) => [
            `${nanos} ${line}`,
            { at: BigInt(nanos), line },
          ]),
        ).values(),
      ];
      const inOrder = shipped
        .toSorted((a, b) => (a.at < b.at ? -1 : 1))
        .map(({ line }) => Number(line.split(' ')[1]));
      assert.deepEqual(
        inOrder,
        Array.from({ length: written }, (_, i) => i + 1),
      );
    });
  }
}

test('a rotation in the middle of a look hides nothing', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-generations-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'app.log');
  writeFileSync(`${path}.1`, 'first\n');
  writeFileSync(path, 'second\n');
  let isRotated = false;
  const { rest, between } = await findGenerations(
    {
      path,
      found: path,
      id: 'none',
      head: { size: 0, sha256: '' },
      birth: 0,
      mtime: 0,
      offset: 0,
      before: '',
      part: 0,
      state: 'live',
    },
    {
      open: async (name) => {
        if (!isRotated) {
          isRotated = true;
          renameSync(`${path}.1`, `${path}.2`);
          renameSync(path, `${path}.1`);
          writeFileSync(path, 'third\n');
        }
        return await openFile(name);
      },
      isKnown: async () => false,
      isOwn: () => false,
    },
  );
  assert.equal(rest, undefined);
  assert.deepEqual(
    between.map((file) => file.path),
    [`${path}.2`, `${path}.1`],
  );
  await Promise.all(between.map(({ file }) => file.close()));
});
