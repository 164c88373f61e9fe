import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { EdgeFleet } from 'svc/contracts/edge';
import {
  clientHandshake,
  maxMessageBytes,
  openSweeper,
  sweepMs,
  tunnelPath,
  tunnelProtocol,
} from 'svc/tunnel';
import { WebSocket } from 'ws';

import { systemClock, systemIds } from '../../../../core/boot/time.ts';
import {
  encodeCredit,
  encodeFrame,
  frameType,
} from '../../../../plugins/lib/tunnel/message/frames.ts';
import { WebSocketTransport } from '../../../../plugins/lib/tunnel/message/web-socket.ts';
import { edgeHouse, type Keys, machine, until } from '../house.ts';

const request = (id: number, body: object | string): Buffer =>
  encodeFrame(frameType.request, id, typeof body === 'string' ? body : JSON.stringify(body));

function changed(frame: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(frame);
  change(copy);
  return copy;
}

const good = request(3, { m: 'm', dl: 10 });
/**
 * Violations by an edge that has authenticated; with the codes that its connection may end with.
 */
const violations: readonly (readonly [what: string, message: string | Buffer, code: number])[] = [
  ['a text message', 'hello', 4400],
  ['reserved bits', changed(good, (bytes) => (bytes[3] = 1)), 4400],
  ['an unknown type', changed(good, (bytes) => (bytes[0] = 99)), 4400],
  ['half a header', good.subarray(0, 7), 4400],
  [
    'a length that is not that of the payload',
    changed(good, (bytes) => bytes.writeUInt32BE(9_999, 8)),
    4400,
  ],
  ['an answer to nothing', encodeFrame(frameType.response, 2_000_000, '{}'), 4400],
  ['data for a stream that never was', encodeFrame(frameType.data, 7, 'x'), 4400],
  ['credit without end', encodeCredit(9, 0xffff_ffff), 4400],
  ['a call with an id of the manager', request(4, { m: 'm', dl: 10 }), 4400],
  ['a body that is no JSON', request(3, 'x'), 4400],
  ['a prototype for a body', request(3, '{"__proto__":{"m":"m","dl":1}}'), 4400],
  ['more than a message may have', Buffer.alloc(maxMessageBytes + 1, 5), 1009],
  ['noise', randomBytes(200), 4400],
];

/** Violations by an unauthenticated client. */
const strangers: readonly (readonly [what: string, message: string | Buffer, code: number])[] = [
  ['a text message', 'hello', 4400],
  [
    '2 KiB in one frame',
    encodeFrame(frameType.hello, 0, JSON.stringify({ v: 1, ak: 'x'.repeat(2_000) })),
    4400,
  ],
  ['nearly 1 MiB', Buffer.alloc(maxMessageBytes - 1, 1), 4400],
  ['more than 1 MiB', Buffer.alloc(4 * maxMessageBytes, 1), 1009],
  ['a call before the proof', good, 4400],
  ['noise', randomBytes(400), 4400],
];

async function besieged(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-hostile-'));
  writeFileSync(
    join(dataDir, 'svc.yaml'),
    'edge:\n  handshakes_per_address: 100000\n  handshakes_per_second: 100000\n',
  );
  const around = await edgeHouse(t, { plugins: ['edge'], dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const sweeper = openSweeper(systemClock, (error) => assert.fail(String(error)));
  const timer = setInterval(() => sweeper.tick(), sweepMs);
  t.after(() => clearInterval(timer));

  const [bystander, villain] = [await around.create('bystander'), await around.create('villain')];
  const { session } = await around.simulate(bystander, {
    machine: machine(1),
    methods: { echo: { handle: (params: unknown) => params } },
  });

  const open = async (): Promise<WebSocket> => {
    const ws = new WebSocket(
      `${around.house.url.replace('http', 'ws')}${tunnelPath}`,
      [tunnelProtocol],
      { perMessageDeflate: false },
    );
    await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
    // A close in the middle of what was being sent is a reset; 'close' follows.
    ws.on('error', () => undefined);
    return ws;
  };
  const endOf = (ws: WebSocket): Promise<number> =>
    new Promise((resolve) => ws.once('close', resolve));
  return {
    ...around,
    session,
    async stranger(message: string | Buffer): Promise<number> {
      const ws = await open();
      const ended = endOf(ws);
      ws.send(message);
      return await ended;
    },
    async traitor(message: string | Buffer, keys: Keys = villain): Promise<number> {
      const ws = await open();
      const hello = {
        agent_id: machine(2),
        boot_id: 'boot-1',
        agent_version: 'v0.1.0',
        caps: [],
        purpose: 'serve',
      } as const;
      const ids = systemIds(systemClock);
      await clientHandshake(new WebSocketTransport(ws), {
        sweeper,
        ids,
        accessKey: keys.access_key,
        secretKey: keys.secret_key,
        hello,
      });
      const ended = endOf(ws);
      ws.send(message);
      return await ended;
    },
    fine: async (): Promise<void> => {
      const fleet = around.house.service(EdgeFleet);
      assert.equal(
        await fleet.call((bystander as Keys & { id: number }).id, 'echo', 'still here', {
          timeoutMs: 10_000,
        }),
        'still here',
      );
      assert.ok(session.live, 'the tunnel of the other edge is the one it was');
    },
  };
}

/** A connection that ended before its close frame was read has no code of its own. */
const isEnd = (code: number, expected: number): boolean =>
  code === expected || (expected === 1009 && code === 1006);

test('whoever breaks the protocol loses that connection, and every other edge goes on', async (t) => {
  const { stranger, traitor, fine, house } = await besieged(t);
  for (const [what, message, code] of violations) {
    const ended = await traitor(message);
    assert.ok(isEnd(ended, code), `${what}: closed with ${ended}`);
    await fine();
  }
  for (const [what, message, code] of strangers) {
    const ended = await stranger(message);
    assert.ok(isEnd(ended, code), `a stranger with ${what}: closed with ${ended}`);
    await fine();
  }
  assert.ok(
    !house.lines.some((line) => line.includes('"level":"error"')),
    'what strangers send is no error of the house',
  );
  await until('only the bystander is up', () => house.service(EdgeFleet).online().size === 1);
});

test('a tunnel compresses nothing, however much it is offered', async (t) => {
  const { house } = await besieged(t);
  const ws = new WebSocket(`${house.url.replace('http', 'ws')}${tunnelPath}`, [tunnelProtocol], {
    perMessageDeflate: true,
  });
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  assert.deepEqual([ws.extensions, ws.protocol], ['', tunnelProtocol]);
  ws.terminate();
});

test('hundreds of hostile connections leave no memory behind', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { stranger, traitor, fine } = await besieged(t);
  const siege = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => {
          const one = n + at;
          const list = one % 2 === 0 ? strangers : violations;
          const message = list[(one >> 1) % list.length]![1];
          // The big ones cost the test more than the house.
          return message.length > 100_000 && one % 10 !== 0
            ? stranger('x')
            : one % 2 === 0
              ? stranger(message)
              : traitor(message);
        }),
      );
    }
  };
  const used = async (): Promise<number> => {
    // What closed last is let go of a turn later.
    await new Promise((resolve) => setTimeout(resolve, 3 * sweepMs));
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 2 ** 20;
  };
  await siege(200);
  // What the last of them sent may still be on its way out.
  const before = Math.min(await used(), await used(), await used());
  await siege(600);
  await until('as much is in use as before', async () => (await used()) < before + 4);
  await fine();
});
