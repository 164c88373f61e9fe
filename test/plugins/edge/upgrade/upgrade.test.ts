import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { sourceOf } from '../../../../plugins/edge-upgrade/address.ts';
import { download } from '../../../../plugins/edge-upgrade/download.ts';
import { edgeHouse, until } from '../house.ts';

const sha256 = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

test('an upgrade is ordered, followed to its end, and there is one at a time', async (t) => {
  const { ask, create, simulate, house } = await edgeHouse(t, { plugins: ['edge', 'device'] });
  const keys = await create();
  const path = `/edges/${keys.id}/upgrade`;
  const good = { url: 'https://example.org/svc', sha256: 'A'.repeat(64) };
  assert.equal((await ask('POST', path, good)).status, 503);
  assert.equal((await ask('POST', '/edges/99/upgrade', good)).status, 404);
  for (const bad of [
    { ...good, sha256: 'ab' },
    { ...good, url: 'http://example.org/svc' },
    { ...good, url: 'https://user:pass@example.org/svc' },
    { ...good, url: 'file:///etc/passwd' },
    { ...good, signature: 'x' },
    { url: good.url },
  ]) {
    assert.equal((await ask('POST', path, bad)).status, 400, JSON.stringify(bad));
  }
  const orders: { job_id: string; url: string; sha256: string }[] = [];
  const methods = {
    upgrade: {
      mutating: true,
      handle: (order: (typeof orders)[number]) => (orders.push(order), {}),
    },
  };
  const { session } = await simulate(keys, { methods });
  const started = await ask('POST', path, { ...good, version: 'v9.9.9' });
  assert.deepEqual([started.status, started.body.state], [202, 'queued'], started.text);
  assert.deepEqual(orders, [
    { job_id: started.body.job_id, ...good, sha256: 'a'.repeat(64), version: 'v9.9.9' },
  ]);
  assert.equal((await ask('POST', path, good)).status, 409);

  const job = async () => (await ask('GET', `/edges/${keys.id}/upgrades`)).body.items[0];
  const tell = (state: string, error?: string) =>
    session.emit('upgrade_state', { job_id: started.body.job_id, state, ...(error && { error }) });
  tell('verifying');
  await until('it is verified', async () => (await job()).state === 'verifying');
  tell('downloading');
  tell('rolled_back', 'it was not healthy');
  await until('it has ended', async () => (await job()).state === 'rolled_back');
  assert.deepEqual(
    [(await job()).error, typeof (await job()).ended_at],
    ['it was not healthy', 'string'],
  );
  tell('succeeded');
  assert.equal(
    (
      await ask('POST', path, {
        ...good,
        url: `${house.url}/x`,
        force: true,
        allow_downgrade: true,
      })
    ).status,
    202,
  );
  assert.deepEqual(orders.at(-1), {
    job_id: orders.at(-1)!.job_id,
    url: `${house.url}/x`,
    sha256: 'a'.repeat(64),
    allow_downgrade: true,
    force: true,
  });
  assert.equal(
    (await ask('GET', `/edges/${keys.id}/upgrades`)).body.items[1].state,
    'rolled_back',
    'what has ended stays so',
  );
});

test('a package of this manager is looked up, held against its digest, and served to edges alone', async (t) => {
  const { ask, create, simulate, house } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'session', 'iam'],
  });
  const keys = await create();
  const folder = join(house.dataDir, 'agent-packages');
  const put = (name: string, bytes: string, digest = sha256(bytes)) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), bytes);
    writeFileSync(join(folder, `${name}.sha256`), `${digest}  ${name}\n`);
  };
  const path = `/edges/${keys.id}/upgrade-package`;
  assert.equal((await ask('POST', path, {})).status, 409, 'its architecture is not known');
  const orders: { url: string; size_bytes: number; signature?: string; version: string }[] = [];
  const { session } = await simulate(keys, {
    methods: { upgrade: { mutating: true, handle: (order) => (orders.push(order), {}) } },
  });
  session.emit('host_info', { hostname: 'a', arch: 'x64' });
  await until(
    'its architecture is known',
    async () => (await ask('GET', `/edges/${keys.id}`)).body.host_info?.arch,
  );
  put('svc-1.2.3-x64', 'the agent');
  writeFileSync(join(folder, 'svc-1.2.3-x64.sig'), 'c2ln\n');
  put('svc-1.2.4-x64', 'another', sha256('something else'));
  symlinkSync(fileURLToPath(import.meta.url), join(folder, 'svc-1.2.5-x64'));
  const missing = await ask('POST', path, {});
  assert.equal(missing.status, 404);
  assert.match(
    missing.body.message,
    /svc-0\.1\.0-x64.*there are svc-1\.2\.5-x64, svc-1\.2\.4-x64, svc-1\.2\.3-x64/,
  );
  assert.equal((await ask('POST', path, { version: '1.2.4' })).status, 409);
  assert.equal((await ask('POST', path, { version: '1.2.5' })).status, 404);
  assert.equal((await ask('POST', path, { version: '../1.2.3' })).status, 400);
  assert.equal((await ask('POST', path, { version: 'v1.2.3' })).status, 202);
  const [order] = orders;
  assert.deepEqual(
    [order?.url, order?.size_bytes, order?.signature, order?.version],
    ['/internal/edge/packages/svc-1.2.3-x64', 9, 'c2ln', '1.2.3'],
  );

  const get = async (url: string, authorization: string) => {
    const answer = await fetch(house.url + url, { headers: { authorization } });
    return `${answer.status} ${answer.ok ? await answer.text() : ''}`;
  };
  const basic = `Basic ${Buffer.from(`${keys.access_key}:${keys.secret_key}`).toString('base64')}`;
  assert.equal(await get(order!.url, basic), '200 the agent');
  const tag = `"${sha256('the agent')}"`;
  const part = async (headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(house.url + order!.url, {
      headers: { authorization: basic, ...headers },
    });
    assert.deepEqual(
      [answer.headers.get('etag'), answer.headers.get('accept-ranges')],
      [tag, 'bytes'],
    );
    return [answer.status, answer.headers.get('content-range'), await answer.text()];
  };
  const whole = [200, null, 'the agent'];
  for (const [headers, expected] of [
    [{ range: 'bytes=4-' }, [206, 'bytes 4-8/9', 'agent']],
    [{ range: 'bytes=0-2' }, [206, 'bytes 0-2/9', 'the']],
    [{ range: 'bytes=4-99', 'if-range': tag }, [206, 'bytes 4-8/9', 'agent']],
    [{ range: 'bytes=4-', 'if-range': `"${sha256('the agent of before')}"` }, whole],
    [{ range: 'bytes=9-' }, whole],
    [{ range: 'bytes=5-4' }, whole],
    [{ range: 'bytes=0-1,4-5' }, whole],
    [{ range: 'lines=1-' }, whole],
  ] as const) {
    assert.deepEqual(await part(headers), expected, JSON.stringify(headers));
  }

  const file = join(folder, 'fetched');
  writeFileSync(file, 'THE ');
  await download({
    source: sourceOf(order!.url, { manager: house.url, ...keys }),
    file,
    sha256: sha256('the agent'),
    sizeBytes: undefined,
    maxTries: 1,
    signal: AbortSignal.timeout(20_000),
    pause: async () => undefined,
  });
  assert.equal(
    readFileSync(file, 'utf8'),
    'THE agent',
    'an agent asks for what it has not got yet',
  );
  assert.equal(
    await get(
      order!.url,
      `Basic ${Buffer.from(`${keys.access_key}:svc_sk_${'x'.repeat(43)}`).toString('base64')}`,
    ),
    '401 ',
  );
  assert.equal(await get(order!.url, `Bearer ${house.token}`), '403 ');
  for (const file of [
    'svc-1.2.5-x64',
    'svc-1.2.3-x64.sha256',
    '..%2Fkeys%2Foperator.token',
    'run.json',
  ]) {
    assert.match(await get(`/internal/edge/packages/${file}`, basic), /^40[04] /, file);
  }
});
