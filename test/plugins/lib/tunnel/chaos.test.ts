import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { isSvcError } from '../../../../core/sdk/index.ts';
import {
  connect,
  type IdempotencyJournal,
  makeCredentials,
  openFileJournal,
  openSession,
  serverHandshake,
  type Sweeper,
  type TunnelHandlers,
  type TunnelSession,
} from 'svc/tunnel';
import { type ChaosProxy, chaosProxy } from './chaos-proxy.ts';
import { ids, listen, logBook, type Listener, realClock, realSweeper } from './pair.ts';

const credentials = makeCredentials(ids);
const hello = {
  agent_id: 'agent-1',
  boot_id: 'boot-1',
  agent_version: '0.1.0',
  caps: [],
  purpose: 'serve',
} as const;

interface World {
  readonly proxy: ChaosProxy;
  /** Number of runs of each command. */
  readonly runs: Map<string, number>;
  /** A fresh connection through the proxy, proved on both sides; its edge pings this often. */
  meet(pingMs?: number): Promise<{ manager: TunnelSession; edge: TunnelSession }>;
}

async function world(t: TestContext): Promise<World> {
  const sweeper = realSweeper(t);
  const folder = mkdtempSync(join(tmpdir(), 'svc-tunnel-chaos-'));
  const listener = await listen(t);
  const proxy = await chaosProxy(t, listener.port);
  const journal = await openFileJournal({
    file: join(folder, 'commands.log'),
    clock: realClock,
    onTrouble: (error) => assert.fail(String(error)),
  });
  t.after(async () => {
    await journal.close();
    rmSync(folder, { recursive: true });
  });
  const runs = new Map<string, number>();
  const handlers = edgeHandlers(runs);
  return {
    proxy,
    runs,
    meet: (pingMs?: number) => meet(listener, proxy, sweeper, journal, handlers, pingMs),
  };
}

const edgeHandlers = (runs: Map<string, number>): TunnelHandlers => ({
  methods: new Map([
    ['echo', { handle: (params: unknown) => params }],
    [
      'change',
      {
        mutating: true,
        handle: async (
          params: { n: number },
          { idempotencyKey }: { idempotencyKey: string | undefined },
        ) => {
          runs.set(idempotencyKey!, (runs.get(idempotencyKey!) ?? 0) + 1);
          await new Promise((resolve) => setTimeout(resolve, params.n % 7));
          return params.n;
        },
      },
    ],
  ]),
  services: new Map([['echo', (stream) => void stream.pipe(stream)]]),
});

async function meet(
  listener: Listener,
  proxy: ChaosProxy,
  sweeper: Sweeper,
  journal: IdempotencyJournal,
  handlers: TunnelHandlers,
  pingMs = 200,
) {
  const limits = { pingMs, missedPings: 3 };
  const session = { log: logBook(), random: Math.random, limits };
  const greeting = async (): Promise<TunnelSession> => {
    const transport = await listener.accept();
    await serverHandshake(transport, {
      sweeper,
      ids,
      find: () => [credentials],
      admit: () => ({}),
    });
    return openSession(transport, { ...session, side: 'manager', sweeper });
  };
  const [manager, { session: edge }] = await Promise.all([
    greeting(),
    connect({
      dial: { url: `ws://127.0.0.1:${proxy.port}/` },
      handshake: {
        sweeper,
        ids,
        accessKey: credentials.access_key,
        secretKey: credentials.secret_key,
        hello,
      },
      session: { ...session, handlers, journal },
    }),
  ]);
  return { manager, edge };
}

test('handshake, calls and streams work byte by byte', async (t) => {
  const { proxy, meet: come } = await world(t);
  proxy.fragment = 1;
  // Byte by byte takes a busy machine a while.
  const { manager } = await come(10_000);
  const value = { text: 'ü'.repeat(100) };
  assert.deepEqual(await manager.call('echo', value, { timeoutMs: 30_000 }), value);
  proxy.fragment = 7;
  const stream = await manager.open('echo', {});
  const bytes = randomBytes(40_000);
  const hash = createHash('sha256');
  let got = 0;
  stream.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    got += chunk.length;
  });
  stream.end(bytes);
  await once(stream, 'end');
  assert.deepEqual(
    [got, hash.digest('hex')],
    [bytes.length, createHash('sha256').update(bytes).digest('hex')],
  );
});

test('a half-open connection ends every call by its deadline, and is noticed by both sides', async (t) => {
  const { proxy, meet: come } = await world(t);
  const { manager, edge } = await come();
  proxy.dead = true;
  const calls = Array.from({ length: 10 }, (_, n) =>
    manager.call('echo', n, { timeoutMs: 100 + 20 * n }).then(String, (error: unknown) => error),
  );
  assert.ok(
    (await Promise.all(calls)).every(
      (error) =>
        isSvcError(error) && error.code === 'unavailable' && /did not respond/.test(error.message),
    ),
  );
  const ends = await Promise.all([manager.closed, edge.closed]);
  assert.deepEqual(
    ends.map(({ code }) => code),
    [4408, 4408],
  );
});

test('through resets, stalls and delays every call ends, and every command that was asked until answered ran once', async (t) => {
  const { proxy, runs, meet: come } = await world(t);
  let link = await come();
  let seed = 5;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  let resets = 0;
  let stopped = false;
  const weather = (async () => {
    while (!stopped) {
      proxy.fragment = [0, 1, 50, 1_000][random(4)]!;
      proxy.delayMs = random(3);
      proxy.dead = random(4) === 0;
      await new Promise((resolve) => setTimeout(resolve, 10 + random(60)));
      proxy.dead = false;
      if (random(2) === 0) {
        resets += 1;
        proxy.reset();
        const { edge } = link;
        await Promise.all([link.manager.closed, edge.closed]);
        proxy.fragment = 0;
        proxy.delayMs = 0;
        link = await come();
      }
    }
  })();
  let tries = 0;
  const one = async (n: number): Promise<void> => {
    const idempotencyKey = `command-${n}`;
    for (;;) {
      tries += 1;
      try {
        assert.equal(
          await link.manager.call('change', { n }, { timeoutMs: 300, idempotencyKey }),
          n,
        );
        return;
      } catch (error) {
        assert.ok(isSvcError(error) && error.code === 'unavailable', String(error));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  };
  const lane = async (from: number): Promise<void> => {
    for (let n = from; n < 120; n += 8) {
      await one(n);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, at) => lane(at)));
  stopped = true;
  await weather;
  assert.deepEqual(
    [...runs.values()].filter((count) => count !== 1),
    [],
  );
  assert.equal(runs.size, 120);
  assert.ok(
    resets > 0 && tries > 120,
    `${resets} resets and ${tries} tries were too little weather`,
  );
});
