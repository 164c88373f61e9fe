import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SampleRow } from 'svc/contracts/metricsdb';
import { openSweeper, type SessionEnd } from 'svc/tunnel';

import { OnlineSeries } from '../../../../plugins/edge/presence/online-series.ts';
import { Presence } from '../../../../plugins/edge/presence/presence.ts';
import type { EdgeRecord } from '../../../../plugins/edge/record/record.ts';
import type { Tunnel } from '../../../../plugins/edge/record/tunnel.ts';

/** Time passes when the test says so. */
function world(records: readonly EdgeRecord[]) {
  let now = 1_000_000;
  const clock = { now: () => now, monotonic: () => now };
  const sweeper = openSweeper(clock, (error) => assert.fail(String(error)));
  const known = new Map(records.map((record) => [record.id, record]));
  const edgeTable = { byId: (id: number) => known.get(id), all: () => known.values() };
  const emitted: string[] = [];
  const tunnels: number[] = [];
  const events = {
    online: ({ id }: EdgeRecord): void => void emitted.push(`online ${id}`),
    connected: ({ id }: EdgeRecord): void => void tunnels.push(id),
    offline: ({ id }: EdgeRecord): void => void emitted.push(`offline ${id}`),
  };
  const presence = new Presence({ edgeTable, sweeper, clock, tables: {} as never, events });
  const pass = (ms: number): void => {
    for (const end = now + ms; now < end;) {
      now = Math.min(end, now + 50);
      sweeper.tick();
    }
  };
  const tunnel = (): Tunnel =>
    ({ machine: 'm', bootId: 'b', session: { stats: { lastHeardAt: now } } }) as unknown as Tunnel;
  return { clock, presence, pass, emitted, tunnels, tunnel, known, edgeTable };
}

const record = (id: number, online = false): EdgeRecord =>
  ({
    id,
    name: `edge-${id}`,
    online,
    deviceId: id,
    lastRegisteredAt: online ? 1 : null,
  }) as EdgeRecord;
const end = (code: number): SessionEnd => ({ code, reason: '', retry: undefined, upMs: 0 });

test('an edge is offline ten seconds after its tunnel closed, at once when pings were missed, and not when it comes back in time', () => {
  const edge = record(1);
  const { presence, pass, emitted, tunnels, tunnel } = world([edge]);
  const first = tunnel();
  presence.connected(edge, first, 'v1.0.0');
  presence.closed(edge, first, end(1006));
  assert.equal(presence.up.size, 0);
  pass(9_900);
  const second = tunnel();
  assert.equal(presence.connected(edge, second, 'v1.0.0'), undefined);
  pass(60_000);
  assert.deepEqual(
    [emitted, tunnels],
    [['online 1'], [1, 1]],
    'each tunnel is told of, also after a short break',
  );
  const third = tunnel();
  assert.equal(presence.connected(edge, third, 'v1.0.0'), second);
  presence.closed(edge, second, end(4409));
  assert.ok(presence.up.has(1), 'the older one does not take the newer one with it');
  presence.closed(edge, third, end(1006));
  pass(10_100);
  assert.deepEqual(emitted, ['online 1', 'offline 1']);
  const fourth = tunnel();
  presence.connected(edge, fourth, 'v1.0.0');
  presence.closed(edge, fourth, end(4408));
  assert.deepEqual(emitted.slice(2), ['online 1', 'offline 1']);
});

test('after a restart no edge counts as offline before the fleet had time to come back', () => {
  const edges = [record(1, true), record(2, true), record(3)];
  const { presence, pass, emitted, tunnel } = world(edges);
  presence.awaitReturn(50_000);
  pass(40_000);
  presence.connected(edges[0]!, tunnel(), 'v1.0.0');
  presence.connected(edges[2]!, tunnel(), 'v1.0.0');
  assert.ok(presence.isAwaited(edges[1]!));
  assert.deepEqual(emitted, ['online 3']);
  pass(11_000);
  assert.deepEqual(emitted, ['online 3', 'offline 2']);
  assert.ok(!presence.isAwaited(edges[1]!));
});

test('as long as some have not come back after a restart, one that came and was cut off again is awaited like them', () => {
  const edges = [record(1, true), record(2, true)];
  const { presence, pass, emitted, tunnel } = world(edges);
  presence.awaitReturn(50_000);
  const [first, again] = [tunnel(), tunnel()];
  presence.connected(edges[0]!, first, 'v1.0.0');
  presence.closed(edges[0]!, first, end(4408));
  pass(20_000);
  assert.deepEqual(emitted, []);
  presence.connected(edges[1]!, tunnel(), 'v1.0.0');
  presence.connected(edges[0]!, again, 'v1.0.0');
  presence.closed(edges[0]!, again, end(1006));
  pass(10_100);
  assert.deepEqual(emitted, ['offline 1'], 'all were back: from then on it is as ever');
});

test('the series of presence has a sample for each edge that is known to be up or down, and ends with the edge or its device', async () => {
  const edges = [record(1, true), record(2), { ...record(3), deviceId: null }];
  const { presence, pass, tunnel, known, edgeTable } = world(edges);
  let rows: SampleRow[] = [];
  const store = { write: async (given: readonly SampleRow[]) => void (rows = [...given]) };
  const series = new OnlineSeries({
    edgeTable,
    presence,
    store: { available: true, get: () => store, onChange: () => () => undefined } as never,
  });
  const written = async (): Promise<string[]> => {
    rows = [];
    await series.write(5);
    return rows.map(
      ({ labels, value, stale }) =>
        `${labels['edge_id']}@${labels['device_id']} ${stale ? 'ends' : value}`,
    );
  };
  presence.awaitReturn(1_000);
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
