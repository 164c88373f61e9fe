import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openSweeper, type SessionEnd } from 'svc/tunnel';

import type { SampleRow } from '../../../../plugins/metricsdb/contract.ts';
import { createGovernor } from '../../../../plugins/edge/connection/handshake-limits.ts';
import { createLobby } from '../../../../plugins/edge/connection/admission-queue.ts';
import { createOnlineSeries } from '../../../../plugins/edge/connection/online-series.ts';
import { createPresence } from '../../../../plugins/edge/connection/presence.ts';
import type { EdgeRecord } from '../../../../plugins/edge/record.ts';
import type { Roll } from '../../../../plugins/edge/edge-table.ts';
import type { Tunnel } from '../../../../plugins/edge/connection/tunnel.ts';

/** Time passes when the test says so. */
function world(records: readonly EdgeRecord[]) {
  let now = 1_000_000;
  const clock = { now: () => now, monotonic: () => now };
  const sweeper = openSweeper(clock, (error) => assert.fail(String(error)));
  const known = new Map(records.map((record) => [record.id, record]));
  const roll = { byId: (id: number) => known.get(id), all: () => known.values(), size: known.size } as unknown as Roll;
  const told: string[] = [];
  const telling = { online: ({ id }: EdgeRecord) => told.push(`online ${id}`), offline: ({ id }: EdgeRecord) => told.push(`offline ${id}`) };
  const presence = createPresence({ roll, sweeper, clock, tables: {} as never, telling: telling as never });
  const pass = (ms: number): void => {
    for (const end = now + ms; now < end;) {
      now = Math.min(end, now + 50);
      sweeper.tick();
    }
  };
  const tunnel = (): Tunnel => ({ machine: 'm', bootId: 'b', session: { stats: { lastHeardAt: now } } }) as unknown as Tunnel;
  return { clock, presence, pass, told, tunnel, known, roll };
}

const record = (id: number, online = false): EdgeRecord =>
  ({ id, name: `edge-${id}`, online, deviceId: id, lastRegisteredAt: online ? 1 : null }) as EdgeRecord;
const end = (code: number): SessionEnd => ({ code, reason: '', retry: undefined, upMs: 0 });

test('an edge is offline ten seconds after its tunnel closed, at once when pings were missed, and not when it comes back in time', () => {
  const edge = record(1);
  const { presence, pass, told, tunnel } = world([edge]);
  const first = tunnel();
  presence.connected(edge, first, 'v1.0.0');
  presence.closed(edge, first, end(1006));
  assert.equal(presence.up.size, 0);
  pass(9_900);
  const second = tunnel();
  assert.equal(presence.connected(edge, second, 'v1.0.0'), undefined);
  pass(60_000);
  assert.deepEqual(told, ['online 1']);
  const third = tunnel();
  assert.equal(presence.connected(edge, third, 'v1.0.0'), second);
  presence.closed(edge, second, end(4409));
  assert.ok(presence.up.has(1), 'the older one does not take the newer one with it');
  presence.closed(edge, third, end(1006));
  pass(10_100);
  assert.deepEqual(told, ['online 1', 'offline 1']);
  const fourth = tunnel();
  presence.connected(edge, fourth, 'v1.0.0');
  presence.closed(edge, fourth, end(4408));
  assert.deepEqual(told.slice(2), ['online 1', 'offline 1']);
});

test('after a restart nobody is told offline before the fleet had time to come back', () => {
  const edges = [record(1, true), record(2, true), record(3)];
  const { presence, pass, told, tunnel } = world(edges);
  presence.await(50_000);
  pass(40_000);
  presence.connected(edges[0]!, tunnel(), 'v1.0.0');
  presence.connected(edges[2]!, tunnel(), 'v1.0.0');
  assert.ok(presence.isAwaited(edges[1]!));
  assert.deepEqual(told, ['online 3']);
  pass(11_000);
  assert.deepEqual(told, ['online 3', 'offline 2']);
  assert.ok(!presence.isAwaited(edges[1]!));
});

test('as long as some have not come back after a restart, one that came and was cut off again is awaited like them', () => {
  const edges = [record(1, true), record(2, true)];
  const { presence, pass, told, tunnel } = world(edges);
  presence.await(50_000);
  const [first, again] = [tunnel(), tunnel()];
  presence.connected(edges[0]!, first, 'v1.0.0');
  presence.closed(edges[0]!, first, end(4408));
  pass(20_000);
  assert.deepEqual(told, []);
  presence.connected(edges[1]!, tunnel(), 'v1.0.0');
  presence.connected(edges[0]!, again, 'v1.0.0');
  presence.closed(edges[0]!, again, end(1006));
  pass(10_100);
  assert.deepEqual(told, ['offline 1'], 'all were back: from then on it is as ever');
});

test('the series of presence has a sample for each edge that is known to be up or down, and ends with the edge or its device', async () => {
  const edges = [record(1, true), record(2), { ...record(3), deviceId: null }];
  const { presence, pass, tunnel, known, roll } = world(edges);
  let rows: SampleRow[] = [];
  const store = { write: async (given: readonly SampleRow[]) => void (rows = [...given]) };
  const series = createOnlineSeries(roll, presence, { available: true, get: () => store, onChange: () => () => undefined } as never);
  const written = async (): Promise<string[]> => {
    rows = [];
    await series.write(5);
    return rows.map(({ labels, value, stale }) => `${labels['edge_id']}@${labels['device_id']} ${stale ? 'ends' : value}`);
  };
  presence.await(1_000);
  assert.deepEqual(await written(), ['2@2 0'], 'the first may still come back');
  pass(1_100);
  assert.deepEqual(await written(), ['1@1 0', '2@2 0']);
  presence.connected(edges[1]!, tunnel(), 'v1.0.0');
  edges[0]!.deviceId = 7;
  assert.deepEqual(await written(), ['1@1 ends', '1@7 0', '2@2 1']);
  known.delete(2);
  assert.deepEqual(await written(), ['2@2 ends', '1@7 0']);
  assert.deepEqual(await written(), ['1@7 0']);
});

test('whoever fails to prove anything has fewer tries, and no more than so many try at once', () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const governor = createGovernor(
    () => ({ unproved: 3, perSecond: 100, perAddress: 10 }),
    clock,
    () => 0,
  );
  const open = [1, 2, 3].map(() => (governor.admit('192.0.2.1'), governor.begin('192.0.2.1')));
  assert.throws(() => governor.admit('192.0.2.9'), { code: 'unavailable', retryAfterSeconds: 1 });
  open[0]!(true);
  open[0]!(true);
  assert.equal(governor.unproved, 2);
  governor.admit('192.0.2.1');
  open[1]!(false);
  open[2]!(false);
  assert.throws(() => governor.admit('192.0.2.1'), { code: 'unavailable' });
  governor.admit('192.0.2.2');
  governor.admit('2001:db8:0:1::1');
  now += 3_000;
  governor.admit('192.0.2.1');
  assert.equal(governor.refused, 2);
});

test('a fleet that comes in one moment is let in some at a turn, and no more of it waits than will be let in', async () => {
  let now = 0;
  const lobby = createLobby({ monotonic: () => now }, () => 0);
  let inside = 0;
  const refused: unknown[] = [];
  const come = (count: number): void => {
    for (let n = 0; n < count; n += 1) {
      const waits = lobby.enter();
      void (waits
        ? waits.then(
            () => (inside += 1),
            (error: unknown) => refused.push(error),
          )
        : (inside += 1));
    }
  };
  const turn = async (ms: number): Promise<number> => {
    const before = inside;
    now += ms;
    lobby.turn();
    await Promise.resolve();
    await Promise.resolve();
    return inside - before;
  };

  come(4_000);
  assert.deepEqual([inside, lobby.waiting], [50, 3_950]);
  assert.equal(await turn(50), 50);
  assert.equal(await turn(200), 50);
  come(4_096 - lobby.waiting);
  assert.throws(() => lobby.enter(), { code: 'unavailable', retryAfterSeconds: 1 });
  // Who has waited for too long has given up, or is about to.
  assert.equal(await turn(20_000), 0);
  assert.equal(refused.length, 50);
});
