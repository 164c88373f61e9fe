import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isSvcError, SvcError } from '../../../../core/sdk/index.ts';
import { closeCode, type TunnelMethod } from 'svc/tunnel';
import { memorySides, turns } from './pair.ts';

const methods = (table: Readonly<Record<string, TunnelMethod['handle']>>) => ({
  methods: new Map(Object.entries(table).map(([name, handle]) => [name, { handle }])),
});
const never = (): Promise<never> => new Promise(() => undefined);

test('a call is answered with what the method returned, and errors cross as they are', async () => {
  const { manager, edge, log } = memorySides({
    edge: methods({
      echo: (params: unknown) => params,
      nothing: () => undefined,
      refuses: () => {
        throw new SvcError('not_found', 'there is no process 7', {
          details: [{ path: '/pid', message: 'unknown' }],
        });
      },
      breaks: () => {
        throw new Error('inner detail');
      },
      circular: () => {
        const loop: { self?: unknown } = {};
        loop.self = loop;
        return loop;
      },
      huge: () => 'x'.repeat(1_100_000),
    }),
    manager: methods({ time: () => 7 }),
  });
  const call = (method: string, params?: unknown): Promise<unknown> =>
    manager.call(method, params, { timeoutMs: 1_000 });
  assert.deepEqual(await call('echo', { a: [1, 'ü'] }), { a: [1, 'ü'] });
  assert.equal(await call('nothing'), undefined);
  assert.equal(await edge.call('time', null, { timeoutMs: 1_000 }), 7);
  await assert.rejects(call('refuses'), (error) => {
    assert.ok(isSvcError(error));
    assert.deepEqual(
      [error.code, error.message, error.details],
      ['not_found', 'there is no process 7', [{ path: '/pid', message: 'unknown' }]],
    );
    return true;
  });
  await assert.rejects(
    call('breaks'),
    (error) => isSvcError(error) && error.code === 'internal' && !error.message.includes('inner'),
  );
  assert.match(log.lines.join('\n'), /inner detail/);
  await assert.rejects(call('circular'), /failed on the other side/);
  await assert.rejects(call('huge'), /the limit is 1048512/);
  await assert.rejects(call('constructor'), /method constructor does not exist/);
  await assert.rejects(
    call('echo', 'x'.repeat(1_100_000)),
    (error) => isSvcError(error) && error.status === 413,
  );
  await assert.rejects(call('echo', 7n), /plain JSON/);
  assert.deepEqual([manager.stats.callsOut, edge.stats.callsIn], [0, 0]);
});

test('a call that is not answered ends at its deadline, on both sides', async () => {
  let aborted = false;
  const { manager, pass, wires } = memorySides({
    edge: methods({
      slow: (_params, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason as Error);
          }),
        ),
    }),
  });
  const late = assert.rejects(
    manager.call('slow', {}, { timeoutMs: 500 }),
    /did not respond to slow within 500 ms/,
  );
  await turns(2);
  pass(600);
  await late;
  await turns(2);
  assert.ok(aborted);
  // Also when the connection is there and carries nothing.
  wires.manager.stalled = true;
  const lost = assert.rejects(manager.call('slow', {}, { timeoutMs: 500 }), /within 500 ms/);
  pass(600);
  await lost;
});

test('a call that is taken back ends at once here, and its method is told', async () => {
  let reason: unknown;
  const { manager, edge } = memorySides({
    edge: methods({
      slow: (_params, { signal }) => {
        signal.addEventListener('abort', () => (reason = signal.reason));
        return never();
      },
    }),
  });
  const abort = new AbortController();
  const call = assert.rejects(
    manager.call('slow', {}, { timeoutMs: 5_000, signal: abort.signal }),
    /enough/,
  );
  await turns(2);
  abort.abort(new Error('enough'));
  await call;
  await turns(2);
  assert.match(String(reason), /cancelled the call/);
  assert.equal(edge.stats.callsIn, 1, 'a method that does not listen keeps its place');
  await assert.rejects(
    manager.call('slow', {}, { timeoutMs: 5_000, signal: abort.signal }),
    /enough/,
  );
});

test('beyond 32 calls at once the caller is told to wait, by its own side and by the other', async () => {
  const { manager, edge } = memorySides({ edge: methods({ slow: never, fast: () => 1 }) });
  const abort = new AbortController();
  const calls = Array.from({ length: 32 }, () =>
    manager.call('slow', {}, { timeoutMs: 5_000, signal: abort.signal }).catch(() => undefined),
  );
  await assert.rejects(manager.call('fast', {}, { timeoutMs: 5_000 }), /has 32 calls in progress/);
  await turns(2);
  abort.abort();
  await Promise.all(calls);
  assert.equal(edge.stats.callsIn, 32);
  await assert.rejects(
    manager.call('fast', {}, { timeoutMs: 5_000 }),
    (error) =>
      isSvcError(error) && error.code === 'unavailable' && /in progress/.test(error.message),
  );
});

test('when the connection ends every call ends with it, readings on the other side too', async () => {
  let aborted = false;
  const { manager, edge, wires } = memorySides({
    edge: methods({
      slow: (_params, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true));
        return never();
      },
    }),
  });
  const call = assert.rejects(
    manager.call('slow', {}, { timeoutMs: 60_000 }),
    (error) => isSvcError(error) && error.code === 'unavailable',
  );
  await turns(2);
  wires.manager.terminate();
  await call;
  assert.ok(aborted);
  assert.equal((await manager.closed).code, closeCode.lost);
  assert.equal((await edge.closed).code, closeCode.lost);
  await assert.rejects(manager.call('slow', {}, { timeoutMs: 60_000 }), /has ended/);
  await assert.rejects(manager.open('x', {}), /has ended/);
  assert.equal(manager.emit('x', 1), false);
});

test('events arrive in order; above the rate they are dropped, counted and told of once', async () => {
  const heard: number[] = [];
  const { manager, edge, log, pass } = memorySides({
    manager: { events: new Map([['n', (n: number) => heard.push(n)]]) },
  });
  const emitted = Array.from({ length: 300 }, (_, n) => edge.emit('n', n));
  await turns(2);
  assert.deepEqual(heard, [...Array(200).keys()]);
  assert.deepEqual([emitted.filter(Boolean).length, edge.stats.droppedEvents], [200, 100]);
  pass(1_000);
  assert.ok(edge.emit('n', 0));
  assert.equal(manager.stats.droppedEvents, 0);

  const flooded = memorySides({
    manager: { events: new Map([['n', (n: number) => heard.push(n)]]) },
  });
  heard.length = 0;
  const one = edgeEvent(flooded);
  for (let n = 0; n < 250; n += 1) {
    flooded.wires.manager.arrive(one);
  }
  assert.deepEqual(
    [heard.length, flooded.manager.stats.droppedEvents, flooded.log.lines.length],
    [200, 50, 1],
  );
  assert.equal(log.lines.length, 0);
});

/** The bytes of one event, as an edge that knows no rate would send them. */
function edgeEvent({ edge, wires }: ReturnType<typeof memorySides>): Uint8Array {
  edge.emit('n', 1);
  const bytes = wires.edge.sent.at(-1)!;
  wires.edge.stalled = true;
  return bytes;
}

test('a listener that throws is logged and the connection lives', async () => {
  const { manager, edge, log } = memorySides({
    manager: {
      events: new Map([
        [
          'bad',
          () => {
            throw new Error('inner');
          },
        ],
      ]),
    },
  });
  edge.emit('bad', 1);
  edge.emit('unknown', 1);
  await turns(2);
  assert.match(log.lines.join(), /inner/);
  assert.ok(manager.live);
});

test('a manager that goes away says when to come back, lets calls end, and then closes', async () => {
  let answer = (_with: string): void => undefined;
  const { manager, edge } = memorySides({
    edge: methods({ slow: () => new Promise<string>((resolve) => (answer = resolve)) }),
  });
  const running = manager.call('slow', {}, { timeoutMs: 1_000 });
  await turns(2);
  manager.goAway(
    { code: closeCode.restart, message: 'a new version' },
    { retryMinMs: 100, retryMaxMs: 9_000 },
  );
  await turns(2);
  await assert.rejects(manager.call('slow', {}, { timeoutMs: 1_000 }), /about to close/);
  await assert.rejects(edge.open('x', {}), /about to close/);
  answer('done');
  assert.equal(await running, 'done');
  const end = await edge.closed;
  assert.deepEqual(
    [end.code, end.reason, end.retry],
    [closeCode.restart, 'a new version', { minMs: 100, maxMs: 9_000 }],
  );
  assert.equal((await manager.closed).code, closeCode.restart);
});

test('a call that does not end does not keep a manager from going', async () => {
  const { manager, edge, pass } = memorySides({ edge: methods({ slow: never }) });
  const running = assert.rejects(manager.call('slow', {}, { timeoutMs: 60_000 }), /a new version/);
  await turns(2);
  manager.goAway(
    { code: closeCode.restart, message: 'a new version' },
    { retryMinMs: 0, retryMaxMs: 10, graceMs: 500 },
  );
  pass(600);
  await running;
  assert.equal((await edge.closed).code, closeCode.restart);
});

test('the edge pings, and each side notices when the other is gone', async () => {
  const alive = memorySides();
  for (let second = 0; second < 300; second += 1) {
    alive.pass(1_000);
    await turns(1);
  }
  assert.ok(alive.manager.live && alive.edge.live);
  assert.equal(typeof alive.edge.stats.rttMs, 'number');

  const half = memorySides();
  half.wires.edge.stalled = true;
  half.wires.manager.stalled = true;
  for (let second = 0; second < 85; second += 1) {
    half.pass(1_000);
  }
  assert.ok(!half.manager.live && !half.edge.live);
  const [manager, edge] = await Promise.all([half.manager.closed, half.edge.closed]);
  assert.deepEqual([manager.code, edge.code], [closeCode.silent, closeCode.silent]);
  assert.match(edge.reason, /3 pings/);
});

test('a peer that reads nothing is given up: at once beyond 8 MiB, after 15 s above one', async () => {
  const much = { text: 'x'.repeat(1_000_000) };
  const full = memorySides();
  full.wires.manager.stalled = true;
  const calls = Array.from({ length: 9 }, () =>
    full.manager.call('m', much, { timeoutMs: 60_000 }).catch(() => 'ended'),
  );
  assert.deepEqual(await Promise.all(calls), Array(9).fill('ended'));
  assert.equal((await full.manager.closed).code, closeCode.silent);

  const slow = memorySides();
  slow.wires.manager.stalled = true;
  const waiting = [1, 2].map(() =>
    slow.manager.call('m', much, { timeoutMs: 60_000 }).catch(() => 'ended'),
  );
  assert.equal(slow.manager.emit('e', 1), false, 'events are dropped meanwhile');
  slow.pass(14_000);
  assert.ok(slow.manager.live);
  slow.pass(1_100);
  assert.deepEqual(await Promise.all(waiting), ['ended', 'ended']);
});
