import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';

import { type ChangeDraft, ChangeFeed } from 'svc/contracts/changes';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { lookAgain } from '../../../plugins/changes/watched.ts';
import { silent } from '../../storage/folder.ts';

interface Item {
  readonly id: number;
  readonly at: string;
  readonly kind: string;
  readonly summary: string;
  readonly actor: string | null;
  readonly device_id: string | null;
}

const post = (
  house: TestHost,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> =>
  house.fetch('/api/v1/changes', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

async function listed(house: TestHost, query = ''): Promise<readonly Item[]> {
  return (await house.json<{ items: Item[] }>(`/api/v1/changes?limit=200${query}`)).items;
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    assert.ok(tries < 500, 'what was waited for has not come');
    await pause(20);
  }
}

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-changes-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a deploy that is posted is listed, found by its words, and near its time and service; told twice it stands once', async (t) => {
  const house = await startTestHost(t, { plugins: ['changes'] });
  useNoLeaks(t, house);
  const key = { 'idempotency-key': 'deploy-1' };
  const body = {
    summary: 'shop-api\u001b[31m 2.4.1\nrolled out',
    service: 'shop-api',
    version: '2.4.1',
    device_id: 7,
    link: 'https://ci.example/1',
  };
  assert.equal((await post(house, body, key)).status, 201);
  assert.equal((await post(house, body, key)).status, 201);
  await post(house, {
    summary: 'nightly backup',
    kind: 'cron',
    at: new Date(Date.now() - 3_600_000).toISOString(),
  });

  const [deploy] = await listed(house, '&kind=deploy');
  assert.equal(deploy?.summary, 'shop-api [31m 2.4.1 rolled out');
  assert.deepEqual(
    (await listed(house, '&kind=deploy,cron')).map(({ kind }) => kind),
    ['deploy', 'cron'],
  );
  assert.equal((await listed(house, '&q=BACKUP')).length, 1);
  // What somebody writes at a moment is listed beside what was changed.
  assert.equal(
    (await post(house, { summary: 'the sale began', kind: 'note', device_id: 7 })).status,
    201,
  );
  assert.deepEqual(
    (await listed(house, '&kind=note')).map(({ summary, device_id: device }) => [summary, device]),
    [['the sale began', '7']],
  );
  assert.equal((await listed(house, '&device_id=8')).length, 0);
  const near = await house
    .service(ChangeFeed)
    .near({ start: Date.now() - 60_000, end: Date.now() + 1, services: ['shop-api'] }, undefined);
  assert.deepEqual(
    near.filter(({ kind }) => kind === 'deploy').map(({ labels, link }) => [labels, link]),
    [[{ version: '2.4.1' }, 'https://ci.example/1']],
  );
  assert.deepEqual(
    await house
      .service(ChangeFeed)
      .near({ start: 0, end: Date.now() + 1, services: ['other'], device_ids: ['9'] }, undefined)
      .then((all) => all.map(({ kind }) => kind)),
    ['cron'],
  );

  for (const wrong of [
    { summary: ' ' },
    { summary: 'x', kind: 'reboot' },
    { summary: 'x', at: '2020-01-01T00:00:00Z' },
    { summary: 'x', link: 'javascript:alert(1)' },
  ]) {
    assert.equal((await post(house, wrong)).status, 400, JSON.stringify(wrong));
  }
});

test('an edit in the audit trail becomes one change, with the names of its fields, also when it was made while this room was away', async (t) => {
  const house = await startTestHost(t, { plugins: ['audit', 'topology', 'changes'] });
  const node = await house.json<{ id: number }>('/api/v1/topology/nodes', {
    method: 'POST',
    body: JSON.stringify({ type: 'service', name: 'shop' }),
  });
  await until(async () =>
    (await listed(house, '&kind=topology')).find(({ summary }) =>
      /^node 1 created by [^:]*$/.test(summary),
    ),
  );

  await house.host.disable('changes');
  await house.json(`/api/v1/topology/nodes/${node.id}`, {
    method: 'PATCH',
    body: JSON.stringify({ name: 'store' }),
  });
  await house.host.enable('changes');
  const change = await until(async () =>
    (await listed(house, '&kind=topology')).find(({ summary }) => summary.includes('name')),
  );
  assert.match(change.summary, /^node 1 changed by .*: name/);
  assert.doesNotMatch(change.summary, /store/);
  assert.equal((await listed(house, '&kind=topology')).length, 2);
});

test('svc that is started again is a change', async (t) => {
  const dataDir = folder(t);
  const first = await startTestHost(t, { plugins: ['changes', 'version'], dataDir });
  assert.deepEqual(await listed(first), []);
  await first.stop();
  const second = await startTestHost(t, { plugins: ['changes', 'version'], dataDir });
  assert.deepEqual(
    (await listed(second)).map(({ kind }) => kind),
    ['restart'],
  );
});

test('another version, another boot and another certificate are changes; a clock that is set is none', async () => {
  const kept = new Map<string, string>();
  const drafts: ChangeDraft[] = [];
  const feed = {
    seen: async (prefix: string) => new Map([...kept].filter(([key]) => key.startsWith(prefix))),
    put: async (more: readonly ChangeDraft[], seen: ReadonlyMap<string, string>) => {
      drafts.push(...more);
      seen.forEach((value, key) => kept.set(key, value));
    },
  };
  const world = { agent: '1.0.0', boot: 1_000_000, certificate: 2_000_000_000, generation: 1 };
  const vector = (labels: object, value: number) => ({
    type: 'vector',
    labels: [labels],
    times: new Float64Array(1),
    values: Float64Array.of(value),
    warnings: [],
  });
  const metrics = {
    instant: async (query: string) =>
      query.includes('boot')
        ? vector({ device_id: '7' }, world.boot)
        : vector({ instance: 'shop:443' }, world.certificate),
  };
  const handle = (value: object): never =>
    ({ available: true, get: () => value, onChange: () => () => undefined }) as never;
  const look = (): Promise<void> =>
    lookAgain({
      feed: feed as never,
      fleet: handle({
        list: () => [{ id: 3, name: 'db-3', agent_version: world.agent, device_id: 7 }],
      }),
      metrics: handle(metrics),
      plugins: {
        list: () =>
          [
            { id: 'logs', state: 'active', version: '1.0.0', generation: world.generation },
          ] as never,
      },
      build: { version: '1.0.0', startedAt: 5 },
      now: () => 9_000_000_000,
      log: silent,
    });
  await look();
  assert.deepEqual(drafts, []);
  world.boot += 60;
  await look();
  assert.deepEqual(drafts, []);
  Object.assign(world, {
    agent: '1.1.0',
    boot: world.boot + 600,
    certificate: world.certificate + 7_776_000,
    generation: 2,
  });
  await look();
  await look();
  assert.deepEqual(
    drafts.map(({ kind, device_id, summary }) => [kind, device_id, summary]),
    [
      ['upgrade', '7', 'agent db-3 now runs 1.1.0 (was 1.0.0)'],
      ['reboot', '7', 'device 7 was rebooted'],
      [
        'certificate',
        undefined,
        'certificate of shop:443 was replaced; the new one expires on 2033-08-16, the previous one on 2033-05-18',
      ],
      ['plugin', undefined, 'plugin logs 1.0.0 was reloaded'],
    ],
  );
});
