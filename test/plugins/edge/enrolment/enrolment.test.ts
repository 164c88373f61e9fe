import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { EdgeFleet } from 'svc/contracts/edge';

import { HandClock } from '../../alert/engine-house.ts';
import { edgeHouse, edgeKeys, machine } from '../house.ts';

const pin = `sha256//${Buffer.alloc(32, 7).toString('base64')}`;

test('one line brings as many machines as the token is made for, and no more', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  writeFileSync(join(dataDir, 'svc.yaml'), `edge:\n  pin: ${pin}\n`);
  const { ask, edge, simulate, house } = await edgeHouse(t, { plugins: ['edge'], dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const made = await ask('POST', '/edges/enrolments', {
    name: 'rack 1',
    max_uses: 2,
    expires_in: '10m',
    labels: { rack: '1' },
  });
  assert.equal(made.status, 201, made.text);
  const { token, install_command: line } = made.body;
  assert.equal(line, `svc edge install --manager ${house.url} --token ${token} --pin ${pin}`);

  const enrol = (n: number, hostname = `host-${n}`, shown = token) =>
    ask(
      'POST',
      '/internal/edge/enrol',
      {
        token: shown,
        machine_uuid: machine(n),
        hostname,
        agent_version: 'v0.1.0',
        arch: 'x64',
        os: 'linux',
      },
      { authorization: '' },
    );
  const first = await enrol(1);
  assert.deepEqual(
    [first.status, first.body.name, first.body.tunnel_path],
    [201, 'host-1', '/internal/tunnel'],
    first.text,
  );
  assert.deepEqual((await edge(first.body.edge_id)).labels, { rack: '1' });
  const again = await enrol(1);
  assert.deepEqual(
    [again.status, again.body.edge_id],
    [201, first.body.edge_id],
    'its answer was lost, so the same machine asks again',
  );
  await assert.rejects(simulate(first.body), /unknown or the secret is wrong/);
  await simulate(again.body);
  const second = await enrol(2, '\u0007\n ');
  assert.equal(second.body.name, 'machine 00000000');
  assert.equal((await ask('GET', '/edges/enrolments')).body.items[0].status, 'used_up');
  const third = await enrol(3);
  assert.equal(third.status, 401);
  assert.equal(
    (await enrol(1)).status,
    401,
    'it has connected: this is another machine, or a thief',
  );
  assert.equal(
    (await enrol(4, 'x', `svc_enrol_${'x'.repeat(43)}`)).body.message,
    third.body.message,
  );
  assert.equal((await ask('GET', '/edges')).body.total, 2);
});

test('a token that is over enrols nobody', async (t) => {
  const clock = new HandClock();
  const { ask } = await edgeHouse(t, { plugins: ['edge'], clock });
  const { body } = await ask('POST', '/edges/enrolments', { max_uses: 3, expires_in: '10m' });
  const enrol = (n: number) =>
    ask('POST', '/internal/edge/enrol', {
      token: body.token,
      machine_uuid: machine(n),
      hostname: 'a',
      agent_version: 'v0.1.0',
      arch: 'x64',
      os: 'linux',
    });
  clock.advance(599_000);
  assert.equal((await enrol(1)).status, 201);
  clock.advance(2_000);
  assert.equal((await enrol(2)).status, 401);
  assert.equal((await ask('GET', '/edges/enrolments')).body.items[0].status, 'expired');
});

test('a token that was revoked enrols nobody, and guessing is slow', async (t) => {
  const { ask } = await edgeHouse(t, { plugins: ['edge'] });
  const { body } = await ask('POST', '/edges/enrolments', {});
  assert.equal(body.install_command.includes('--pin'), false);
  assert.equal((await ask('DELETE', `/edges/enrolments/${body.id}`)).status, 204);
  assert.equal((await ask('DELETE', '/edges/enrolments/99')).status, 404);
  assert.equal((await ask('GET', '/edges/enrolments')).body.items[0].token, undefined);
  for (const bad of [
    { expires_in: '30s' },
    { expires_in: '31d' },
    { max_uses: 0 },
    { max_uses: 10_001 },
  ]) {
    assert.equal((await ask('POST', '/edges/enrolments', bad)).status, 400, JSON.stringify(bad));
  }
  const enrol = () =>
    ask('POST', '/internal/edge/enrol', {
      token: body.token,
      machine_uuid: machine(1),
      hostname: 'a',
      agent_version: 'v0.1.0',
      arch: 'x64',
      os: 'linux',
    });
  const answers = [];
  for (let tries = 0; tries < 12; tries += 1) {
    answers.push((await enrol()).status);
  }
  assert.deepEqual([answers[0], answers.at(-1)], [401, 429]);
});

test('edges that are made and deleted while the room is reloaded are known, and unknown, to the new one', async (t) => {
  const { ask, house } = await edgeHouse(t, { plugins: ['edge'] });
  const made: { id: number; access_key: string; secret_key: string }[] = [];
  const make = async (): Promise<void> => {
    const { status, body } = await ask('POST', '/edges', { name: 'one of many' });
    // Between two generations a request may be told to come back.
    assert.ok(status === 201 || status === 503, String(status));
    if (status === 201) {
      made.push(body);
    }
  };
  for (let round = 0; round < 4; round++) {
    const gone = made.splice(0, 3);
    await Promise.all([
      house.reload('edge'),
      ...gone.map(({ id }) => ask('DELETE', `/edges/${id}`)),
      ...Array.from({ length: 12 }, make),
    ]);
  }
  const listed = await ask('GET', '/edges?limit=200');
  assert.ok(made.length > 5, String(made.length));
  const known = house.service(EdgeFleet).list();
  const sorted = (all: readonly { readonly id: number }[]): number[] =>
    all.map(({ id }) => id).sort((a, b) => a - b);
  assert.deepEqual(sorted(known), sorted(listed.body.items));
  for (const { access_key, secret_key } of made.slice(-20)) {
    assert.ok(await edgeKeys(house).recognise(access_key, secret_key));
  }
});
