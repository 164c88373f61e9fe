import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

const home = mkdtempSync(join(tmpdir(), 'svc-packs-'));
after(() => rmSync(home, { recursive: true, force: true }));

/** A pack that tells its process, and does not start while there is a file `bad` in its folder. */
function packFolder(limits: Record<string, number> = {}): string {
  const folder = join(mkdtempSync(join(home, 'case-')), 'teller');
  mkdirSync(folder);
  const manifest = {
    id: 'teller',
    version: '1.0.0',
    title: 'Teller',
    description: 'Tells its process.',
    kind: 'pack',
    entry: 'index.ts',
    engines: { host: '^1.0.0' },
    mounts: ['/api/v1/teller'],
    routes: [
      { method: 'GET', path: '/api/v1/teller', access: 'any', summary: 'Tells its process.' },
    ],
    limits,
  };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'index.ts'),
    `import { existsSync } from 'node:fs';
     import { join } from 'node:path';
     import { definePack } from 'svc/sdk';
     export default definePack({
       start() { if (existsSync(join(__dirname, 'bad'))) throw new Error('born on a bad day'); },
       routes: { 'GET /api/v1/teller': () => ({ pid: process.pid }) },
     });`,
  );
  return folder;
}

const pidOf = async (house: TestHost): Promise<number> =>
  (await house.json<{ pid: number }>('/api/v1/teller')).pid;

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 120_000; !holds(); await pause(20)) {
    assert.ok(Date.now() < deadline, `within two minutes: ${what}`);
  }
}

test('without the plugin packs a pack with code is blocked and says so; it comes and goes with it', async (t) => {
  const house = await startTestHost(t, { plugins: [packFolder(), 'packs'] });
  useNoLeaks(t, house);
  const first = await pidOf(house);
  await assert.rejects(house.host.disable('packs'), { message: /packs is needed by teller/ });
  await house.host.disable('packs', { cascade: true });
  await house.settled();
  assert.equal(alive(first), false);
  const { state, cause } = house.host.explain('teller');
  assert.deepEqual(
    [state, cause],
    ['blocked', 'needs service packs.loader ^1.0.0, whose provider "packs" is disabled'],
  );
  assert.equal((await house.fetch('/api/v1/teller')).status, 503);

  await house.host.enable('packs');
  assert.equal(house.host.explain('teller').state, 'active');
  assert.notEqual(await pidOf(house), first);
});

test('another generation of the plugin takes every pack over, and no request is lost', async (t) => {
  const house = await startTestHost(t, { plugins: [packFolder(), 'packs'] });
  useNoLeaks(t, house);
  const first = await pidOf(house);
  let over = false;
  let answered = 0;
  const asking = (async () => {
    for (; !over; answered += 1) {
      await pidOf(house);
    }
  })();
  for (let round = 0; round < 3; round += 1) {
    await house.reload('packs');
  }
  over = true;
  await asking;
  await house.settled();
  // The process of a pack takes seconds to start on a busy machine.
  await until('the pack serves', () => house.host.explain('teller').generation !== undefined);
  assert.equal(house.host.explain('teller').generation, 4);
  assert.ok(answered > 0);
  assert.equal(alive(first), false);
  assert.deepEqual(
    [house.host.explain('packs').residue, house.host.explain('teller').residue],
    [undefined, undefined],
  );
});

test('a pack that does not come up with the other generation serves on for its time, then goes into quarantine with the reason', async (t) => {
  const folder = packFolder({ drain_ms: 0 });
  const house = await startTestHost(t, { plugins: [folder, 'packs'] });
  useNoLeaks(t, house);
  const first = await pidOf(house);
  writeFileSync(join(folder, 'bad'), '');
  await house.reload('packs');
  assert.match(house.host.explain('teller').lastAttempt!.cause!, /born on a bad day/);
  assert.equal(await pidOf(house), first, 'the one before serves on');
  await until('its process has to go', () => house.host.explain('teller').state === 'quarantined');
  await house.settled();
  assert.match(
    house.host.explain('teller').cause!,
    /the plugin packs was replaced, and this pack did not come up with its new generation/,
  );
  assert.equal(alive(first), false);
  rmSync(join(folder, 'bad'));
  await house.reload('teller');
  assert.notEqual(await pidOf(house), first);
});
