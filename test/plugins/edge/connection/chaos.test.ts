import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { EdgeFleet } from 'svc/contracts/edge';
import { isSvcError } from 'svc/sdk';
import { openFileJournal, type TunnelMethod, type TunnelSession } from 'svc/tunnel';

import { systemClock } from '../../../../core/boot/time.ts';
import { chaosProxy } from '../../lib/tunnel/chaos-proxy.ts';
import { edgeHouse, simulator, until } from '../house.ts';

/** A manager, and an edge with a journal on disk behind a line as the world has them. */
async function stormyHouse(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-edge-chaos-'));
  const journal = await openFileJournal({
    file: join(folder, 'commands.log'),
    clock: systemClock,
    onTrouble: (error) => assert.fail(String(error)),
  });
  const { house, create, edge, simulate } = await edgeHouse(t, { plugins: ['edge'] });
  t.after(async () => {
    await journal.close();
    rmSync(folder, { recursive: true });
  });
  const proxy = await chaosProxy(t, Number(new URL(house.url).port));
  const keys = await create();
  const runs = new Map<string, number>();
  const methods: Record<string, TunnelMethod> = {
    echo: { handle: (params: unknown) => params },
    change: {
      mutating: true,
      handle: async ({ n }: { n: number }, { idempotencyKey: key }) => {
        runs.set(key!, (runs.get(key!) ?? 0) + 1);
        await pause(n % 7);
        return n;
      },
    },
  };
  const far = simulator(t, `http://127.0.0.1:${proxy.port}`);
  return {
    proxy,
    runs,
    edge,
    keys,
    fleet: house.service(EdgeFleet),
    throughStorm: async () => (await far(keys, { methods, journal, pingMs: 300 })).session,
    directly: async () => (await simulate(keys, { methods, journal })).session,
  };
}

const isAway = (error: unknown): boolean => isSvcError(error) && error.code === 'unavailable';

test('through resets, stalls and single bytes every call of an edge ends, and each command that was asked until answered ran once', async (t) => {
  const { proxy, runs, fleet, keys, throughStorm, edge } = await stormyHouse(t);
  let seed = 11;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  let over = false;
  let connections = 0;
  let session: TunnelSession | undefined;
  const agent = (async () => {
    while (!over) {
      try {
        session = await throughStorm();
        connections += 1;
        await session.closed;
      } catch {
        // A handshake that the weather broke; the next one follows.
      }
      await pause(5);
    }
  })();
  const weather = (async () => {
    while (!over) {
      proxy.fragment = [0, 1, 50, 1_000][random(4)]!;
      proxy.delayMs = random(3);
      proxy.dead = random(4) === 0;
      await pause(10 + random(60));
      proxy.dead = false;
      proxy.fragment = 0;
      proxy.delayMs = 0;
      if (random(2) === 0) {
        proxy.reset();
      }
      await pause(40);
    }
  })();
  let tries = 0;
  let done = 0;
  const lane = async (from: number): Promise<void> => {
    for (let n = from; n < 90;) {
      tries += 1;
      try {
        assert.equal(
          await fleet.call(
            keys.id,
            'change',
            { n },
            { timeoutMs: 300, idempotencyKey: `command-${n}` },
          ),
          n,
        );
        n += 6;
        done += 1;
        if (done % 20 === 0) {
          proxy.reset(); // However kind the weather was: the rest needs another connection.
        }
      } catch (error) {
        assert.ok(isAway(error), String(error));
        await pause(10);
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, (_, at) => lane(at)));
  over = true;
  await weather;
  proxy.reset();
  await session?.close();
  await agent;
  assert.deepEqual([runs.size, [...runs.values()].filter((count) => count !== 1)], [90, []]);
  assert.ok(
    connections > 3 && tries > 90,
    `${connections} connections and ${tries} tries were too little weather`,
  );
  const shown = await edge(keys.id);
  assert.deepEqual(
    [shown.status, shown.conflict],
    ['online', null],
    'a bad line is no second machine',
  );
});

test('calls over a half-open line end by their deadline; when the edge comes back another way, that one serves at once', async (t) => {
  const { proxy, fleet, keys, throughStorm, directly } = await stormyHouse(t);
  const lost = await throughStorm();
  assert.deepEqual(await fleet.call(keys.id, 'echo', { a: 1 }, { timeoutMs: 5_000 }), { a: 1 });
  proxy.dead = true;
  const calls = Array.from({ length: 10 }, (_, n) =>
    fleet.call(keys.id, 'echo', {}, { timeoutMs: 50 + 20 * n }).catch((error: unknown) => error),
  );
  for (const error of await Promise.all(calls)) {
    assert.ok(isAway(error) && /did not respond/.test((error as Error).message), String(error));
  }
  const patient = fleet
    .call(keys.id, 'echo', {}, { timeoutMs: 60_000 })
    .catch((error: unknown) => error);
  const found = await directly();
  assert.ok(isAway(await patient), 'what was under way on the old one ends with it');
  assert.deepEqual(await fleet.call(keys.id, 'echo', { b: 2 }, { timeoutMs: 5_000 }), { b: 2 });
  assert.equal((await lost.closed).code, 4408, 'the other end of the dead line notices by itself');
  assert.ok(found.live);
});

test('an edge that connects very many times at once ends with one tunnel, and with no conflict', async (t) => {
  const { fleet, keys, directly, edge } = await stormyHouse(t);
  const sessions = await Promise.all(Array.from({ length: 40 }, directly));
  await until('one is left', () => sessions.filter(({ live }) => live).length === 1);
  const ends = await Promise.all(sessions.filter(({ live }) => !live).map(({ closed }) => closed));
  assert.deepEqual([...new Set(ends.map(({ code }) => code))], [4409]);
  assert.deepEqual(await fleet.call(keys.id, 'echo', 'here', { timeoutMs: 5_000 }), 'here');
  const shown = await edge(keys.id);
  assert.deepEqual([shown.status, shown.conflict, fleet.online().size], ['online', null, 1]);
});
