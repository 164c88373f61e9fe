import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { type IdempotencyJournal, openFileJournal } from 'svc/tunnel';
import { flipBit } from '../../../drill/flip-bit.ts';
import { handClock, memorySides, turns } from './pair.ts';

interface Desk {
  readonly file: string;
  readonly pass: (ms: number) => void;
  readonly troubles: unknown[];
  readonly damaged: number[];
  /** Opens the journal as after a start of the agent. */
  open(keep?: number): Promise<IdempotencyJournal>;
}

function desk(t: TestContext): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tunnel-journal-'));
  const opened: IdempotencyJournal[] = [];
  const troubles: unknown[] = [];
  const damaged: number[] = [];
  const { clock, pass } = handClock();
  const file = join(folder, 'sub', 'commands.log');
  t.after(async () => {
    await Promise.all(opened.map((journal) => journal.close()));
    rmSync(folder, { recursive: true });
  });
  return {
    file,
    pass,
    troubles,
    damaged,
    async open(keep) {
      const journal = await openFileJournal({
        file,
        clock,
        onTrouble: (error) => troubles.push(error),
        onDamage: (lines) => damaged.push(...lines),
        ...(keep !== undefined && { keep }),
      });
      opened.push(journal);
      return journal;
    },
  };
}

const result = (value: unknown) => async () => ({ result: value });
const mustNotRun = async (): Promise<never> => assert.fail('the command ran again');

test('a command runs once per key: at the same time, later, and after a restart', async (t) => {
  const { open } = desk(t);
  const journal = await open();
  let runs = 0;
  const work = async () => ((runs += 1), await turns(3), { result: runs });
  assert.deepEqual(
    await Promise.all([journal.run('k1', 'f', work), journal.run('k1', 'f', work)]),
    [{ result: 1 }, { result: 1 }],
  );
  assert.deepEqual(await journal.run('k1', 'f', mustNotRun), { result: 1 });
  await journal.run('k2', 'f', async () => ({ error: { code: 'conflict', message: 'no' } }));
  const reopened = await open();
  assert.deepEqual(await reopened.run('k1', 'f', mustNotRun), { result: 1 });
  assert.deepEqual(await reopened.run('k2', 'f', mustNotRun), {
    error: { code: 'conflict', message: 'no' },
  });
  await assert.rejects(reopened.run('k1', 'another', mustNotRun), /belongs to another command/);
  await assert.rejects(reopened.run('not a key', 'f', mustNotRun), /1 to 64/);
});

test('a command whose agent was killed is not run again, and the caller is told to look', async (t) => {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  t.after(end);
  const { open } = desk(t);
  const journal = await open();
  void journal.run('k', 'f', async () => (await ended, { result: 1 }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const after = await open();
  await assert.rejects(after.run('k', 'f', mustNotRun), /may or may not have taken effect/);
});

test('a file that a kill has torn, at any byte, loses at most the step that was being written', async (t) => {
  const { open, file } = desk(t);
  const journal = await open();
  await journal.run('k1', 'f', result('one'));
  await journal.run('k2', 'f', result('two'));
  const whole = readFileSync(file);
  const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1;
  for (let length = lastLine; length < whole.length - 1; length += 7) {
    writeFileSync(file, whole.subarray(0, length));
    const after = await open();
    assert.deepEqual(await after.run('k1', 'f', mustNotRun), { result: 'one' });
    await assert.rejects(after.run('k2', 'f', mustNotRun), /may or may not have taken effect/);
    await after.run('k3', 'f', result(3));
    await after.close();
    assert.deepEqual(await (await open()).run('k3', 'f', mustNotRun), { result: 3 });
  }
  appendFileSync(file, 'null\n7\n{"k":5}\n\u0000\n');
  assert.deepEqual(await (await open()).run('k1', 'f', mustNotRun), { result: 'one' });
});

test('outcomes are kept for ten minutes, 256 of them, and a forgotten one still does not run again', async (t) => {
  const { open, pass, file } = desk(t);
  const journal = await open(3);
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    await journal.run(key, 'f', result(key));
  }
  await assert.rejects(journal.run('a', 'f', mustNotRun), /no longer stored/);
  assert.deepEqual(await journal.run('e', 'f', mustNotRun), { result: 'e' });
  await assert.rejects((await open(3)).run('b', 'f', mustNotRun), /no longer stored/);
  pass(600_001);
  assert.deepEqual(await journal.run('a', 'f', result('again')), { result: 'again' });
  await open(3);
  assert.ok(statSync(file).size < 200, 'what is too old is gone from the file, too');
});

test('a result too large to keep is told as such, the first time as every time', async (t) => {
  const { open } = desk(t);
  const journal = await open();
  const first = await journal.run('k', 'f', result('x'.repeat(300_000)));
  assert.match(JSON.stringify(first), /the command has run; its result of 300\d+ bytes/);
  assert.deepEqual(await journal.run('k', 'f', mustNotRun), first);
  assert.match(JSON.stringify(await journal.run('k2', 'f', result(7n))), /not plain JSON/);
});

test('a command that cannot be recorded is not run', async (t) => {
  const { open, troubles } = desk(t);
  const journal = await open();
  await journal.run('before', 'f', result(1));
  await journal.close();
  await assert.rejects(
    journal.run('k', 'f', mustNotRun),
    /cannot be recorded \(the agent is stopping\)/,
  );
  assert.deepEqual(await journal.run('before', 'f', mustNotRun), { result: 1 });
  assert.deepEqual(troubles, []);
});

test('a mutating method asks for a key, runs once over two connections, and outlives the one that asked', async (t) => {
  const journal = await desk(t).open();
  let runs = 0;
  let go!: () => void;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const edge = {
    methods: new Map([
      [
        'restart',
        {
          mutating: true,
          handle: async (_params: unknown, { signal }: { signal: AbortSignal }) => {
            runs += 1;
            await gate;
            signal.throwIfAborted();
            return { restarted: runs };
          },
        },
      ],
    ]),
  };
  const first = memorySides({ edge, journal });
  await assert.rejects(
    first.manager.call('restart', {}, { timeoutMs: 1_000 }),
    /requires an idempotency key/,
  );
  const options = { timeoutMs: 60_000, idempotencyKey: '0192f0c1-0000-7000-8000-000000000001' };
  const lost = assert.rejects(
    first.manager.call('restart', { unit: 'nginx' }, options),
    /has ended/,
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  first.wires.manager.terminate();
  await lost;
  const second = memorySides({ edge, journal });
  const retry = second.manager.call('restart', { unit: 'nginx' }, options);
  await turns(2);
  go();
  assert.deepEqual(await retry, { restarted: 1 });
  assert.deepEqual(await second.manager.call('restart', { unit: 'nginx' }, options), {
    restarted: 1,
  });
  await assert.rejects(
    second.manager.call('restart', { unit: 'sshd' }, options),
    /another command/,
  );

  const without = memorySides({ edge });
  await assert.rejects(
    without.manager.call('restart', {}, options),
    /The command journal cannot be written/,
  );
  assert.match(without.log.lines.join(), /but no journal/);
});

test('a changed bit in a line of the journal is told with its number, and the other commands still run once', async (t) => {
  const { file, open, damaged } = desk(t);
  const journal = await open();
  for (const key of ['a', 'b', 'c']) {
    await journal.run(key, 'f', result(key));
  }
  await journal.close();
  const whole = readFileSync(file);
  const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([at]) => at);
  for (let at = 0; at < ends[1]!; at += 1) {
    writeFileSync(file, whole);
    flipBit(file, at);
    damaged.length = 0;
    const again = await open();
    const line = at <= ends[0]! ? 1 : 2;
    assert.deepEqual(damaged, at === ends[0] ? [1] : [line], `byte ${at}`);
    assert.deepEqual(await again.run('b', 'f', mustNotRun), { result: 'b' });
    assert.deepEqual(await again.run('c', 'f', mustNotRun), { result: 'c' });
    await again.close();
  }
});
