import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import { Turns } from '../../../plugins/webshell/ssh/turns.ts';

const piece = Buffer.alloc(64 * 1024, 'y');
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('shells that print without end are read one piece each in turn, one that is typed in at once', async () => {
  let at = 0;
  const due: { readonly ms: number; readonly work: () => void }[] = [];
  const turns = new Turns({ now: () => at, after: (ms, work) => due.push({ ms, work }) });
  const read: string[] = [];
  const typedIn = new Map<string, () => void>();
  const shell = (name: string): PassThrough => {
    const stream = new PassThrough({ highWaterMark: 1024 * 1024 });
    stream.on('data', () => read.push(name));
    typedIn.set(name, turns.pace(stream));
    return stream;
  };
  const [one, two, calm] = [shell('one'), shell('two'), shell('calm')];
  for (let count = 0; count < 8; count += 1) {
    one.write(piece);
    two.write(piece);
  }
  await soon();
  const begun = read.length;
  assert.ok(one.isPaused() && two.isPaused() && due.length === 1);

  const turn = async (lateMs = 0): Promise<string | undefined> => {
    const { ms, work } = due.shift()!;
    at += ms + lateMs;
    read.length = 0;
    work();
    await soon();
    return read.join();
  };
  assert.ok(begun <= 6);
  assert.deepEqual([await turn(), await turn()], ['one', 'two']);
  read.length = 0;
  calm.write('x');
  await soon();
  assert.deepEqual([read.join(), calm.isPaused()], ['calm', false]);

  // Whoever ends while waiting is waited for by nobody; a turn that comes late lets the next one wait longer.
  one.destroy();
  await soon();
  const usual = due[0]!.ms;
  assert.equal(await turn(5), 'two');
  assert.ok(due[0]!.ms > usual, `${due[0]!.ms} after ${usual} ms`);

  // While somebody types elsewhere turns are shorter and further apart, and what is left of the piece is for the next one.
  const sizes: number[] = [];
  const waits: boolean[] = [];
  await turn();
  two.on('data', (bytes: Buffer) => sizes.push(bytes.length));
  for (const typist of ['calm', 'calm', 'two']) {
    typedIn.get(typist)!();
    await turn();
    waits.push(due[0]!.ms > usual);
  }
  assert.deepEqual(
    [sizes, waits],
    [
      [16 * 1024, 16 * 1024, 64 * 1024],
      [true, true, false],
    ],
  );

  // A turn is as long where a shell brings its bytes in small pieces.
  two.destroy();
  const small = shell('small');
  for (let count = 0; count < 64; count += 1) {
    small.write(piece.subarray(0, 4 * 1024));
  }
  await soon();
  let got = 0;
  small.on('data', (bytes: Buffer) => (got += bytes.length));
  await turn();
  assert.deepEqual([got, small.isPaused()], [64 * 1024, true]);
});
