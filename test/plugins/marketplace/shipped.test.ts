import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import { useNoLeaks } from 'svc/testing';

import { folderOnDisk } from '../../../core/host/index.ts';
import { packArchive } from '../../../bin/dev/packaging/pack-archive.ts';
import { prebuild } from '../../../bin/dev/packaging/prebuilt-plugin.ts';
import { projectRoot } from '../../house/source.ts';
import { ask, confirmOf, folderFor, startMarket, upload, uploadConfirmed } from './market.ts';

const home = join(projectRoot, 'marketplace');
const shipped = readdirSync(home, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : [],
);
const archiveOf = async (id: string): Promise<Buffer> =>
  packArchive(await prebuild(folderOnDisk(id, join(home, id), 'shipped')));

test('the packs that come with svc are built, pass the scan, and are installed by the public way', async (t) => {
  const house = await startMarket(t);
  useNoLeaks(t, house);
  assert.ok(shipped.length >= 3);
  for (const id of shipped) {
    const archive = await archiveOf(id);
    assert.ok(archive.equals(await archiveOf(id)), `${id} gives the same bytes again`);
    const code = readdirSync(join(home, id)).includes('index.ts');
    const { status, body } = code
      ? await uploadConfirmed(house, archive)
      : await upload(house, archive);
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(
      [body.pack_id, body.state, body.verdict, body.findings],
      [id, 'active', 'pass', []],
    );
    assert.ok(body.skills.length > 0 && body.agents.length === 1);
    assert.ok(body.agents.every((name: string) => house.registry.current.personas.has(name)));
  }
  for (const id of shipped) {
    assert.equal((await ask(house, 'DELETE', `/installed/${id}`)).status, 204);
  }
});

test('the packs that come with svc are found on a fresh svc, and installed by their names', async (t) => {
  const dataDir = folderFor(t);
  cpSync(home, join(dataDir, 'no-product/marketplace'), { recursive: true });
  const house = await startMarket(t, { dataDir });
  const { items } = (await ask(house, 'GET', '/registries')).body;
  assert.deepEqual(
    items.map((one: Record<string, unknown>) => [one['name'], one['packs'], one['error']]),
    [['shipped', shipped.length, null]],
  );
  for (const id of shipped) {
    const found = (await ask(house, 'GET', `/search?q=${id.split('-')[0]}`)).body.items;
    const { version, title } = JSON.parse(readFileSync(join(home, id, 'plugin.json'), 'utf8')) as {
      version: string;
      title: string;
    };
    assert.deepEqual(
      [found[0].pack_id, found[0].name, found[0].versions],
      [id, title, [version]],
      'the index says what the pack is',
    );
    const asked = await ask(house, 'POST', '/install', { registry: 'shipped', pack_id: id });
    const { status, body } =
      asked.status === 409
        ? await ask(house, 'POST', '/install', {
            registry: 'shipped',
            pack_id: id,
            confirm: confirmOf(asked.body),
          })
        : asked;
    assert.deepEqual(
      [status, body.state, body.version],
      [201, 'active', version],
      JSON.stringify(body),
    );
    const again = await ask(house, 'POST', `/installed/${id}/update`, {});
    assert.deepEqual(
      [again.status, again.body.version],
      [200, version],
      'what is there already needs no word',
    );
  }
  assert.equal((await ask(house, 'DELETE', '/registries/shipped')).status, 409);
  assert.equal(
    (await ask(house, 'POST', '/registries', { name: 'shipped', url: home })).status,
    409,
  );
});

test('kubernetes-reader reads pods, warnings and logs of a cluster with its token, and says what the cluster refuses', async (t) => {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url} ${req.headers.authorization}`);
    const path = req.url!.split('?')[0]!;
    const name = {
      '/api/v1/namespaces/shop/pods': 'pods',
      '/api/v1/events': 'events',
      '/api/v1/namespaces/shop/pods/web-1/log': 'log',
    }[path];
    if (name === undefined) {
      return void res
        .writeHead(403)
        .end(JSON.stringify({ message: 'pods is forbidden: User "reader" cannot list resource' }));
    }
    return void res.end(readFileSync(new URL(`./cluster/${name}.txt`, import.meta.url)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const house = await startMarket(t, { environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' } });
  useNoLeaks(t, house);
  assert.equal((await uploadConfirmed(house, await archiveOf('kubernetes-reader'))).status, 201);
  const run = async (key: string, params: object) => {
    const reply = await house.fetch(`/api/v1/skills/kubernetes-reader-${key}/execute`, {
      method: 'POST',
      body: JSON.stringify({ params }),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
    return (await reply.json()) as any;
  };
  assert.match((await run('pods', {})).error, /no cluster is set/);
  const set = (key: string, value: string) =>
    house.json(`/api/v1/system-settings/kubernetes-reader/${key}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  await set('url', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await set('token', 'cluster-token');
  const { result: pods } = await run('pods', { namespace: 'shop' });
  assert.deepEqual([pods.pods, pods.troubled.length, pods.well.length], [3, 2, 1]);
  assert.deepEqual(pods.troubled[0].trouble, [
    'app waits: CrashLoopBackOff (back-off 5m0s)',
    'app restarted 12 times, last after OOMKilled with code 137 at 2026-01-01T00:00:00Z',
  ]);
  assert.deepEqual(pods.troubled[1].trouble, ['phase Pending']);
  const { result: events } = await run('events', {});
  assert.deepEqual(
    [events.warnings, events.newest[0].object, events.newest[0].reason],
    [1, 'Pod shop/web-1', 'BackOff'],
  );
  assert.deepEqual(
    (await run('logs', { namespace: 'shop', pod: 'web-1', previous: true, lines: 2 })).result,
    {
      lines: ['2026-01-01T00:00:00Z one', '2026-01-01T00:00:01Z two'],
    },
  );
  assert.match(
    (await run('pods', { namespace: 'secret' })).error,
    /the cluster answered 403: pods is forbidden/,
  );
  assert.ok(
    asked.every((line) => line.startsWith('GET ') && line.endsWith(' Bearer cluster-token')),
    asked.join('\n'),
  );
  assert.match(
    asked.find((line) => line.includes('/log'))!,
    /tailLines=2.*previous=true/,
  );
});
