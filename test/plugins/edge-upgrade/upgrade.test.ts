import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startTestEdge } from 'svc/testing';

import { Staging } from '../../../plugins/edge-upgrade/staging.ts';
import { Upgrade, type UpgradeParts } from '../../../plugins/edge-upgrade/upgrade.ts';
import { svc } from '../../cli/launcher.ts';
import { until } from './launched.ts';
import { agentProgram, pretender, rig } from './rig.ts';
import { badPayloads } from './payloads.ts';

test('whatever is ordered, an agent that the manager knows remains, and says what became of it', async (t) => {
  const { order, offer, ended, serves, launched, dataDir, manager, killWhen, state, told } =
    await rig(t, {
      // Files of at most 1 MiB: what is larger meets a full disk.
      installed: agentProgram('1.0.0', 'ulimit -f 2048'),
    });
  await serves('1.0.0');

  const left = (): readonly string[] => readdirSync(join(dataDir, 'versions'));
  for (const { name, make, reason, leaves = [] } of badPayloads.filter(
    ({ state: end }) => end === undefined,
  )) {
    await t.test(`a payload that is bad: ${name}`, async () => {
      const ordered = make(offer);
      await order(ordered);
      const end = await ended(ordered.job_id);
      assert.equal(end.state, 'failed', end.error);
      assert.match(end.error!, reason);
      await serves('1.0.0');
      await until('nothing is left that is of no use', () => left().join() === leaves.join());
      assert.equal(launched.runs, '-');
    });
  }

  await t.test(
    'what a bad line has brought is gone on with when it is ordered again, until its digest proves it wrong',
    async () => {
      const program = Buffer.from(agentProgram('2.0.0'));
      const ranges: (string | undefined)[] = [];
      const fetched = (): number =>
        readdirSync(join(dataDir, 'versions/.new')).reduce(
          (sum, name) => sum + statSync(join(dataDir, 'versions/.new', name)).size,
          0,
        );
      const first = offer(program, {}, (response) => {
        ranges.push(response.req.headers.range);
        if (ranges.length > 1) {
          response.destroy();
          return;
        }
        response.write(program.subarray(0, 50));
        void until('it is on the disk', () => fetched() === 50).then(() => response.destroy());
      });
      await order(first);
      assert.equal((await ended(first.job_id)).state, 'failed');
      const again = offer(program, {}, (response) => {
        ranges.push(response.req.headers.range);
        response
          .writeHead(206, { 'content-range': `bytes 50-${program.length - 1}/${program.length}` })
          .end(Buffer.alloc(program.length - 50, '#'));
      });
      await order(again);
      assert.match((await ended(again.job_id)).error!, /has the SHA-256/);
      assert.deepEqual(
        ranges,
        [undefined, 'bytes=50-', 'bytes=50-'],
        'a second try of the first order, and the second order',
      );
      await until('nothing of it is left', () => left().length === 0);
    },
  );

  await t.test('what cannot be is refused at once', async () => {
    const good = offer(agentProgram('2.0.0'));
    for (const [wish, message] of [
      [{ version: '0.9.0' }, /older than the running version, 1\.0\.0/],
      [{ url: 'http://example.org/x' }, /https/],
      [{ sha256: 'x' }, /another sha256/],
      [{ size_bytes: 0 }, /another size_bytes/],
    ] as const) {
      await assert.rejects(order({ ...good, job_id: randomUUID(), ...wish }), message);
    }
  });

  await t.test(
    'a good one, with a kill at each of four steps, is the agent in the end',
    async () => {
      let stalled = true;
      const program = Buffer.from(
        agentProgram('2.0.0', 'case "$*" in *--self-test*) sleep 2;; esac'),
      );
      const ordered = offer(program, { version: 'v2.0.0' }, (response) => {
        response.writeHead(200, { 'content-length': program.length });
        if (stalled) {
          response.write(program.subarray(0, 20));
        } else {
          response.end(program);
        }
      });
      await order(ordered);
      await assert.rejects(order({ ...ordered, job_id: 'another' }), /Another upgrade/);
      const fetched = await killWhen(
        'it is being fetched',
        () => state() === 'downloading' && existsSync(join(dataDir, 'versions/.new')),
      );
      stalled = false;
      const next = (): boolean => (launched.agent() ?? fetched) !== fetched;
      const tried = await killWhen('it is being tried', () => next() && state() === 'verifying');
      await killWhen(
        'it is to be put into place',
        () => launched.agent() !== tried && launched.file('upgrade/trial') !== undefined,
      );
      await until(
        'it runs',
        () => launched.runs.startsWith('versions/2.0.0-') && launched.agent() !== undefined,
      );
      await killWhen(
        'the new one has connected',
        () =>
          (manager.hellos.at(-1) as unknown as { agent_version: string }).agent_version === '2.0.0',
      );
      assert.deepEqual(await ended(ordered.job_id), { state: 'succeeded', error: undefined });
      await serves('2.0.0');
      assert.equal(launched.file('upgrade/trial'), undefined);
      assert.deepEqual(
        [...new Set(told(ordered.job_id).map((event) => event['state']))],
        ['queued', 'downloading', 'verifying', 'restarting', 'succeeded'],
      );
    },
  );

  await t.test(
    'back to an older version, if that is meant, and the one before is kept',
    async () => {
      const before = launched.runs;
      const older = agentProgram('1.5.0');
      const ordered = offer(older);
      await order(ordered);
      assert.match(
        (await ended(ordered.job_id)).error!,
        /1\.5\.0 is older than the running version, 2\.0\.0.*allow_downgrade/,
      );
      const meant = offer(older, { allow_downgrade: true });
      await order(meant);
      assert.equal((await ended(meant.job_id)).state, 'succeeded');
      await serves('1.5.0');
      assert.deepEqual(
        readdirSync(join(dataDir, 'versions')).sort(),
        [launched.runs, before].map((link) => link.replace('versions/', '')).sort(),
      );
    },
  );

  await t.test(
    'one that ends as soon as it serves gives way, and the order of before stands',
    async () => {
      const ordered = offer(pretender('3.0.0', 'exit 9'));
      await order(ordered);
      const { state: end, error } = await ended(ordered.job_id);
      assert.equal(end, 'rolled_back');
      assert.match(error!, /ended 3 times before it was healthy, last with exit code 9/);
      await serves('1.5.0');
    },
  );
});

test('half a package that nobody orders again goes after a day', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-half-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const staging = new Staging(dataDir, () => assert.fail('nothing is run'), undefined);
  const file = staging.fileFor('a'.repeat(64));
  writeFileSync(file, 'half');
  let now = 0;
  const parts = {
    staging,
    clock: { now: () => now },
    jobs: { current: () => ({ state: 'failed', endedAt: 0 }) },
  };
  const upgrade = new Upgrade(parts as unknown as UpgradeParts);
  now = 24 * 3_600_000;
  upgrade.tidy();
  assert.ok(existsSync(file));
  now += 1;
  upgrade.tidy();
  assert.ok(!existsSync(file));
});

test('a machine with an open shell is left alone, unless the order insists', async (t) => {
  const echo = createServer((socket) => void socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const { port } = echo.address() as AddressInfo;
  t.after(() => echo.close());
  const { order, offer, ended, serves, manager, dataDir } = await rig(t, {
    policy: `tcp: ["127.0.0.1:${port}"]\n`,
  });
  await serves('1.0.0');
  const stream = await (await manager.session()).open('tcp', { host: '127.0.0.1', port });
  stream.on('error', () => undefined);
  const ordered = offer(agentProgram('2.0.0'));
  await assert.rejects(order(ordered), { code: 'conflict', message: /A shell is open/ });
  const forced = { ...ordered, job_id: 'forced', force: true };
  await order(forced);
  assert.equal((await ended('forced')).state, 'succeeded');
  await serves('2.0.0');

  await t.test(
    '"svc edge --self-test" proves the keys beside the agent that serves, and says which version it is',
    async () => {
      const tested = await svc(['edge', '--self-test', '--data', dataDir, '--json']);
      assert.equal(tested.code, 0, tested.stderr);
      assert.match(String(tested.json()['version']), /^\d+\.\d+\.\d+/);
      assert.equal(manager.hellos.at(-1)!.purpose, 'probe');
      assert.ok((await manager.session()).live);
      manager.keys.splice(0);
      const refused = await svc(['edge', '--self-test', '--data', dataDir, '--json']);
      assert.equal(refused.code, 1);
    },
  );
});

test('a payload that hangs once it serves is taken back when its time is over', async (t) => {
  const { order, offer, ended, serves, launched } = await rig(t, { trialSeconds: 3 });
  await serves('1.0.0');
  const { make, reason } = badPayloads.find(({ name }) => name === 'hangs')!;
  const ordered = make(offer);
  await order(ordered);
  const end = await ended(ordered.job_id);
  assert.equal(end.state, 'rolled_back', end.error);
  assert.match(end.error!, reason);
  await serves('1.0.0');
  assert.equal(launched.runs, '-');
});

test('from source there is nothing to put another version in the place of', async (t) => {
  const edge = await startTestEdge(t, { plugins: ['edge-uplink', 'edge-upgrade'] });
  const [upgrade] = edge
    .contributions<{ name: string; run: (params: unknown) => Promise<unknown> }>({
      id: 'uplink.methods',
    })
    .filter(({ name }) => name === 'upgrade');
  const order = { job_id: 'a', url: 'https://example.org/svc', sha256: 'a'.repeat(64) };
  await assert.rejects(upgrade!.run(order), { code: 'conflict', message: /runs from source/ });
});
