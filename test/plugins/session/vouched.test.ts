import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Authenticator } from 'svc/sdk';

import { lampFolder, sessionHouse } from './house.ts';

const fleetFolder = fileURLToPath(new URL('../../fixtures/edge-fleet', import.meta.url));
const keys = 'svc_ak_seven:svc_sk_seven';
/** Status for an edge where only people may look; a stranger gets 401. */
const known = 403;

/** Notes what it is shown, and says of one edge more than an edge may be. */
function boastfulFleet() {
  const shown: string[] = [];
  return {
    shown,
    recognise(accessKey: string, secretKey: string) {
      shown.push(`${accessKey}:${secretKey}`);
      return shown.at(-1) === keys
        ? { edge_id: 7, grants: ['*'], kind: 'user', role: 'admin', session: 's' }
        : undefined;
    },
  };
}

test('an edge is known while the plugin that vouches for it serves, and no longer', async (t) => {
  const { house, statusOf } = await sessionHouse(t, {
    plugins: ['session', lampFolder, fleetFolder],
    services: { 'test.fleet': boastfulFleet() },
  });
  assert.equal(await statusOf(keys), known);
  assert.equal(await statusOf('svc_ak_seven:svc_sk_wrong'), 401);
  await house.reload('edge-fleet');
  assert.equal(await statusOf(keys), known, 'after a reload of the verifier');
  await house.reload('session');
  assert.equal(await statusOf(keys), known, 'after a reload of the sessions');
  await house.host.disable('edge-fleet');
  assert.equal(await statusOf(keys), 401);
  await house.host.enable('edge-fleet');
  assert.equal(await statusOf(keys), known);
});

test('a verifier sees credentials of its own form alone, and cannot make an edge more than an edge', async (t) => {
  const fleet = boastfulFleet();
  const { house, signIn, statusOf } = await sessionHouse(t, {
    plugins: ['session', lampFolder, fleetFolder],
    services: { 'test.fleet': fleet },
  });
  const { access_token: token } = await signIn('bob@example.org');
  assert.equal(await statusOf(token), 200);
  assert.equal(await statusOf('svc_pat_unknown'), 401);
  const authenticator = house.service(Authenticator);
  assert.equal(authenticator.authenticate({ scheme: 'ticket', value: keys, ip: '' }), undefined);
  assert.deepEqual(fleet.shown, []);
  assert.deepEqual(await authenticator.authenticate({ scheme: 'basic', value: keys, ip: '' }), {
    kind: 'edge',
    id: '7',
    name: 'edge 7',
    role: 'edge',
    grants: [],
  });
});

test('what is no code cannot vouch, whether it comes before the sessions or after them', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const voucher = join(home, 'voucher');
  mkdirSync(voucher);
  const contributes = {
    'session.credentials': { ticket: { recognise: { kind: 'user', id: '1', grants: ['*'] } } },
  };
  const named = {
    id: 'voucher',
    version: '1.0.0',
    title: 'Voucher',
    description: 'Vouches in JSON.',
    kind: 'pack',
  };
  writeFileSync(
    join(voucher, 'plugin.json'),
    JSON.stringify({ ...named, engines: { host: '^1.0.0' }, contributes }),
  );
  const { house } = await sessionHouse(t, { plugins: ['session', lampFolder, voucher] });
  t.after(() => rmSync(home, { recursive: true, force: true }));
  assert.equal(
    house.service(Authenticator).authenticate({ scheme: 'ticket', value: 'x'.repeat(43), ip: '' }),
    undefined,
  );
  assert.ok(
    house.lines.some(
      (line) =>
        line.includes('contribution skipped: the point takes code of svc, and no data of packs') &&
        line.includes('voucher'),
    ),
  );
  await assert.rejects(
    house.reload('voucher'),
    /voucher contributes "ticket" to session.credentials: the point takes code of svc/,
  );
});
