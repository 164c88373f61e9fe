import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import {
  Delivery,
  MachineFiles,
  type MetricParcel,
  MetricBatch,
  SlowCalls,
  snappyBlock,
} from 'svc/probe';
import { SvcError } from 'svc/sdk';
import { snappyDecode } from 'svc/store';

import { decoded, logbook, timers } from '../../edge-hostmetrics/box.ts';

describe('samples as remote write', () => {
  test('come back as they went, with labels in order, empty ones left out and a name of its own winning over that of all', () => {
    const batch = new MetricBatch({ time: 1_700_000_000_123, labels: ['job', 'x', 'Zone', 'eu'] });
    batch.add('up', 1);
    batch.add('temp', -0.5, ['room', 'küche "a"', 'empty', '', 'job', 'own'], 5);
    batch.add('big', Number.MAX_VALUE, ['a', 'x'.repeat(70_000)]);
    const samples = decoded(batch.finish());
    assert.deepEqual([...samples].slice(0, 2), [
      ['up{Zone="eu",job="x"}', { value: 1, time: 1_700_000_000_123 }],
      ['temp{Zone="eu",job="own",room="küche \\"a\\""}', { value: -0.5, time: 5 }],
    ]);
    assert.equal([...samples.values()][2]!.value, Number.MAX_VALUE);
    assert.deepEqual(batch.finish(), []);
  });

  test('are cut into several requests, none of which shares memory with the next', () => {
    const batch = new MetricBatch({ time: 1, maxBytes: 2_000 });
    for (let i = 0; i < 100; i++) {
      batch.add('m', i, ['i', String(i)]);
    }
    const bodies = batch.finish();
    assert.ok(bodies.length > 1);
    assert.deepEqual(
      [bodies.reduce((sum, { samples }) => sum + samples, 0), batch.samples],
      [100, 100],
    );
    assert.equal(decoded(bodies).size, 100);
    assert.equal(new Set(bodies.map(({ body }) => body.buffer)).size, bodies.length);
  });

  test('packed by snappy are what another reader unpacks, whatever they are', () => {
    const pack = snappyBlock();
    const inputs = [
      new Uint8Array(0),
      Buffer.from('a'),
      Buffer.from('abcd'.repeat(50_000)),
      randomBytes(200_000),
      Buffer.concat([randomBytes(70_000), Buffer.alloc(70_000)]),
    ];
    for (const input of inputs) {
      assert.ok(Buffer.from(snappyDecode(pack(input), { maxBytes: 1_000_000 })).equals(input));
    }
    assert.ok(pack(inputs[2]!).length < 20_000);
  });
});

describe('calls that may hang', () => {
  const never = (): Promise<never> => new Promise(() => undefined);

  test('hold no more than their slots; who waits behind one that hangs is let go, and others are turned away at once', async () => {
    const { after, elapse } = timers();
    const calls = new SlowCalls({ slots: 2, deadlineMs: 1, after });
    const first = [
      calls.run('a', never),
      calls.run('b', never),
      calls.run('c', () => Promise.resolve(1)),
    ];
    await new Promise((resolve) => void setImmediate(resolve));
    assert.equal(calls.held, 2);
    elapse();
    assert.deepEqual(
      (await Promise.all(first)).map(({ state }) => state),
      ['stuck', 'stuck', 'busy'],
    );
    assert.deepEqual([...calls.stuck], ['a', 'b']);
    assert.equal((await calls.run('a', never)).state, 'stuck');
    assert.equal((await calls.run('d', never)).state, 'busy');
    assert.equal(calls.held, 2);
  });

  test('that fail are told as such, and a slot goes to the next in turn', async () => {
    const calls = new SlowCalls({ slots: 1, deadlineMs: 1, after: timers().after });
    const outcomes = await Promise.all([
      calls.run('a', () => Promise.reject(new Error('no'))),
      calls.run('b', () => Promise.resolve(2)),
      calls.run('c', () => Promise.resolve(3)),
    ]);
    assert.deepEqual(
      outcomes.map(({ state }) => state),
      ['failed', 'done', 'done'],
    );
    assert.equal(calls.held, 0);
  });
});

test('files of a machine are read whole up to a bound; what is absent is undefined', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'svc-probe-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, 'long'), 'ä'.repeat(50_000));
  symlinkSync('there', join(root, 'link'));
  const files = new MachineFiles(root);
  assert.equal(files.text('/long'), 'ä'.repeat(50_000));
  assert.equal(files.text('/long', 4), 'ää');
  assert.deepEqual(
    [
      files.text('/none'),
      files.text('/'),
      files.names('/long'),
      files.number('/long'),
      files.link('/long'),
      files.size('/none'),
    ],
    Array(6).fill(undefined),
  );
  assert.deepEqual(
    [files.link('/link'), files.count('/', 10), files.count('/', 1)],
    ['there', 2, 1],
  );
  assert.match(new MachineFiles().text('/proc/self/status')!, /^Name:/);
});

test('a buffer that is full loses samples and says so once; any other failure is one', async () => {
  const log = logbook();
  const sent: MetricParcel[] = [];
  let trouble: Error | undefined;
  const delivery = new Delivery(
    {
      ship: (parcel) =>
        trouble ? Promise.reject(trouble) : Promise.resolve(void sent.push(parcel)),
    },
    'edge-x',
    log,
  );
  const bodies = [{ body: new Uint8Array([1]), samples: 7 }];
  await delivery.send(bodies);
  assert.deepEqual(sent, [
    {
      signal: 'metrics',
      path: '/api/v1/write',
      contentType: 'application/x-protobuf',
      contentEncoding: 'snappy',
      body: bodies[0]!.body,
      items: 7,
      from: 'edge-x',
    },
  ]);
  trouble = new SvcError('unavailable', 'full');
  await delivery.send(bodies);
  await delivery.send(bodies);
  assert.equal(log.lines.length, 1);
  trouble = new Error('broken');
  await assert.rejects(delivery.send(bodies), /broken/);
});
