import assert from 'node:assert/strict';
import { test } from 'node:test';

import { edgeHouse, machine, until } from '../edge/house.ts';
import { proposalsOf } from '../../../plugins/checks/discovery/proposal.ts';

const nothing = { listeners: [], sites: [], certificates: [], containers: [], notes: [] };
const site = (url: string) => ({ server: 'nginx', url });

test('what an agent finds is proposed, taken with one call, or dismissed for good', async (t) => {
  const { ask, create, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology', 'checks'],
  });
  const berlin = {
    ...nothing,
    sites: [site('https://shop.example.org/'), site('https://www.example.org/')],
    certificates: [{ names: ['shop.example.org', 'mail.example.org'] }],
    listeners: [{ address: '0.0.0.0', port: 5432 }],
    containers: [
      { name: 'odd', labels: { 'svc.check.http': 'file:///etc/passwd' } },
      { name: 'fast', labels: { 'svc.check.tcp': '127.0.0.1:9', 'svc.check.interval_s': '1' } },
    ],
  };
  const connect = async (name: string, n: number, answer: unknown) =>
    simulate(await create(name), {
      machine: machine(n),
      methods: { check_discover: { handle: async () => answer } },
    });
  await connect('berlin', 1, berlin);
  const items = async (): Promise<Record<string, unknown>[]> => {
    const { status, text, body } = await ask('GET', '/check-proposals');
    assert.equal(status, 200, text);
    return body.items;
  };
  const found = await until('proposals', async () => {
    const all = await items();
    return all.length > 0 && all;
  });
  assert.deepEqual(
    found.map(({ kind, target, places, source, agents }) => [kind, target, places, source, agents]),
    [
      ['http', 'https://shop.example.org/', ['svc'], 'nginx', ['berlin']],
      ['http', 'https://www.example.org/', ['svc'], 'nginx', ['berlin']],
      ['tls', 'mail.example.org:443', ['svc'], 'certificate', ['berlin']],
      ['postgres', 'postgres://127.0.0.1:5432/postgres', ['agent:berlin'], 'listener', ['berlin']],
    ],
  );

  const [shop, www] = found;
  const taken = await ask('POST', `/check-proposals/${String(shop!['id'])}/take`);
  assert.deepEqual(
    [taken.status, taken.body.name, taken.body.target],
    [201, 'shop.example.org', 'https://shop.example.org/'],
  );
  const again = await ask('POST', `/check-proposals/${String(shop!['id'])}/take`);
  assert.deepEqual([again.status, again.headers.get('x-svc-reason')], [404, 'checks.no_proposal']);

  await ask('POST', `/check-proposals/${String(www!['id'])}/dismiss`);
  await connect('paris', 2, { ...nothing, sites: [site('https://www.example.org/')] });
  const after = await until('the second agent', async () => {
    const all = await items();
    return all.some(({ agents }) => (agents as string[]).includes('paris')) && all;
  });
  const dismissed = after.find(({ target }) => target === 'https://www.example.org/')!;
  assert.deepEqual(
    [dismissed['id'], dismissed['dismissed'], dismissed['agents']],
    [www!['id'], true, ['berlin', 'paris']],
  );

  // Nothing that is malformed or without bounds is shown, and the agents before it stay known.
  const many = Array.from({ length: 501 }, () => site('https://x.example.org/'));
  await connect('rome', 3, { ...nothing, sites: many });
  await connect('oslo', 4, { ...nothing, sites: [site('https://last.example.org/')] });
  await until('the last agent', async () =>
    (await items()).some(({ target }) => target === 'https://last.example.org/'),
  );
  assert.ok((await items()).every(({ target }) => target !== 'https://x.example.org/'));
});

test('labels of containers become checks from their own machine', () => {
  const targets = (labels: Record<string, string>) =>
    proposalsOf('berlin', { ...nothing, containers: [{ name: 'shop', labels }] }).map(
      ({ draft: { name, kind, target, places, group, interval_s: interval, conditions } }) => ({
        ...{ name, kind, target, places },
        ...(group !== undefined && { group }),
        ...(interval !== undefined && { interval }),
        ...(conditions !== undefined && { conditions }),
      }),
    );
  const places = ['agent:berlin'];
  assert.deepEqual(
    targets({
      'svc.check.http': 'http://127.0.0.1:8000/',
      'svc.check.tcp': '127.0.0.1:9000',
      'svc.check.group': 'shop',
      'svc.check.interval_s': '30',
      'svc.check.gopher': 'x',
    }),
    [
      {
        name: 'shop http',
        kind: 'http',
        target: 'http://127.0.0.1:8000/',
        places,
        group: 'shop',
        interval: 30,
      },
      {
        name: 'shop tcp',
        kind: 'tcp',
        target: '127.0.0.1:9000',
        places,
        group: 'shop',
        interval: 30,
      },
    ],
  );
  assert.deepEqual(
    targets({
      'kuma.front.keyword.name': 'Front of {{ container_name }}',
      'kuma.front.keyword.url': 'https://shop.example.org/',
      'kuma.front.keyword.keyword': 'Welcome',
      'kuma.front.keyword.parent_name': 'web',
      'kuma.db.port.hostname': '{{container_name}}',
      'kuma.db.port.port': '5432',
      'kuma.all.group.name': 'All',
      'kuma.odd.http.url': 'https://{{ host }}/',
      'kuma.box.docker.docker_container': 'shop',
    }),
    [
      {
        ...{ name: 'Front of shop', kind: 'http', target: 'https://shop.example.org/', places },
        group: 'web',
        conditions: ['[STATUS] < 400', '[BODY] == pat(*Welcome*)'],
      },
      { name: 'shop', kind: 'tcp', target: 'shop:5432', places },
    ],
  );
});
