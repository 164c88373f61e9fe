import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Credential } from 'svc/sdk';
import { type Json, monitorHouse, people } from './house.ts';
import { matrix, standIns } from './stand-ins.ts';
const path = '/api/v1/monitor/dashboards';
const shared = (token: string): string => `/api/v1/monitor/shared/${token}`;

/** Words that stand in what is near a shared dashboard, and must not be read through its link. */
const canaries = {
  query: 'canary_metric_of_the_query',
  label: 'canary-value-of-a-label',
  other: 'canary-title-of-another-dashboard',
  choice: 'canary-value-to-choose',
  later: 'canary-title-of-a-later-panel',
  warning: 'canary-warning-of-a-store',
  failed: 'canary_metric_that_fails',
};

test('a public link shows its dashboard as it was, and nothing else can be read by it', async (t) => {
  const ins = standIns();
  ins.range = async (query) => {
    if (query.includes(canaries.failed)) {
      throw new Error(`the store fails at ${query}`);
    }
    return matrix([{ host: 'shop', secret: canaries.label }], 3, [canaries.warning]);
  };
  const { house, ask, audit } = await monitorHouse(t, { services: ins.services });
  const panel = { title: 'Queue', type: 'timeseries', legend: '{{host}}' };
  const board = {
    title: 'Shop',
    variables: [{ name: 'job', type: 'custom', values: ['a', canaries.choice] }],
    panels: [
      { ...panel, query: `${canaries.query}{job="$job"}` },
      { ...panel, title: 'Broken', query: canaries.failed },
    ],
  };
  await ask('PUT', `${path}/shop`, { as: 'mo', body: board });
  await ask('PUT', `${path}/other`, {
    as: 'mo',
    body: { title: canaries.other, panels: [{ ...panel, query: 'up' }] },
  });
  const body = { expires_in_s: 3_600, range_s: 600, note: 'for Kim', variables: { job: ['a'] } };
  const make = (as: 'mo' | 'vera') => ask('POST', `${path}/shop/links`, { as, body });
  assert.equal((await make('vera')).status, 403);
  const made = await make('mo');
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { token, id } = made.body;
  assert.equal(made.body.path, `/ui/shared/${token}`);
  const wrong = await ask('POST', `${path}/shop/links`, {
    as: 'mo',
    body: { ...body, variables: { nothing: ['a'] } },
  });
  assert.equal(wrong.status, 400, JSON.stringify(wrong.body));

  // What is changed later, or added, is not shown.
  const { panels } = board;
  await ask('PUT', `${path}/shop`, {
    as: 'mo',
    body: { ...board, panels: [...panels, { ...panel, title: canaries.later, query: 'up' }] },
  });
  const read = async (suffix = ''): Promise<{ status: number; text: string }> => {
    const answer = await house.fetch(shared(token) + suffix, { headers: { authorization: '' } });
    return { status: answer.status, text: await answer.text() };
  };
  const { status, text } = await read();
  assert.equal(status, 200, text);
  const shown = JSON.parse(text);
  assert.deepEqual(
    shown.panels.map(({ title, data, error }: Json) => [title, data.result.length, error?.message]),
    [
      ['Queue', 1, undefined],
      ['Broken', 0, 'This panel could not be loaded.'],
    ],
  );
  assert.equal(shown.panels[0].data.result[0].name, 'shop');
  assert.deepEqual(shown.variables, [{ title: 'job', value: 'a' }]);
  for (const [what, canary] of Object.entries(canaries)) {
    assert.ok(!text.includes(canary), `${what} can be read: ${text}`);
  }

  // Nothing can be asked for beside it: no other variable, time or range, and no other route.
  for (const suffix of [`?var-job=${canaries.choice}`, '?from=0', '?rows=none', '/links', '/..']) {
    assert.ok([400, 401, 404].includes((await read(suffix)).status), suffix);
  }
  for (const other of [
    '/api/v1/observability/dashboards',
    '/api/v1/observability/dashboards/shop',
    `${path}/shop`,
    `${path}/shop/versions`,
    '/api/v1/monitor/links',
    '/api/v1/monitor/panels',
  ]) {
    for (const authorization of [`Bearer ${token}`, `Basic ${btoa(`link:${token}`)}`]) {
      const answer = await house.fetch(other, { headers: { authorization } });
      assert.equal(answer.status, 401, other);
    }
  }

  // It is listed without its secret, and everything about it is in the trail.
  const list = await ask('GET', '/api/v1/monitor/links?dashboard_uid=shop', { as: 'mo' });
  assert.equal((await ask('GET', '/api/v1/monitor/links', { as: 'vera' })).status, 403);
  assert.equal(list.body.total, 1);
  const [{ note, made_by, opened_at }] = list.body.items;
  assert.deepEqual([note, made_by, typeof opened_at], ['for Kim', 'mo@example.org', 'string']);
  assert.ok(!JSON.stringify(list.body).includes(token));
  assert.equal((await ask('DELETE', `/api/v1/monitor/links/${id}`, { as: 'vera' })).status, 403);
  assert.equal((await ask('DELETE', `/api/v1/monitor/links/${id}`, { as: 'mo' })).status, 204);
  assert.equal((await read()).status, 404);
  assert.deepEqual(
    audit
      .filter(
        ({ resourceType, status }) => resourceType === 'dashboard link' && status === 'success',
      )
      .map(({ action, resourceId }) => [action, resourceId]),
    [
      ['dashboard:share', String(id)],
      ['dashboard:unshare', String(id)],
    ],
  );
  assert.ok(!JSON.stringify(audit).includes(token), 'the trail does not hold the secret');
});

test('a public link shows nothing while its maker could not make it', async (t) => {
  const active = { status: 'active', grants: ['monitor:*'], selectors: undefined };
  let maker: object | undefined = active;
  const { house, ask } = await monitorHouse(t, {
    services: { ...standIns().services, 'iam.directory': { live: () => maker } },
  });
  const panels = [{ title: 'Load', type: 'timeseries', query: 'node_load1' }];
  await ask('PUT', `${path}/shop`, { as: 'mo', body: { title: 'Shop', panels } });
  const { body } = await ask('POST', `${path}/shop/links`, {
    as: 'mo',
    body: { expires_in_s: 300, range_s: 600 },
  });
  for (const [now, status] of [
    [active, 200],
    [{ ...active, status: 'disabled' }, 404],
    [{ ...active, grants: ['monitor:write'] }, 404],
    [{ ...active, selectors: ['customer=acme'] }, 404],
    [undefined, 404],
    [active, 200],
  ] as const) {
    maker = now;
    const answer = await house.fetch(shared(body.token), { headers: { authorization: '' } });
    assert.equal(answer.status, status, JSON.stringify(now));
  }
});

test('an API token makes no link to what it may not read itself', async (t) => {
  const tokens: Record<string, readonly string[]> = {
    share: [],
    monitor: ['read:monitor'],
    metrics: ['read:monitor', 'read:metricsdb'],
    logs: ['read:monitor', 'read:logs'],
    both: ['read:monitor', 'read:metricsdb', 'read:logs'],
  };
  const { house } = await monitorHouse(t, {
    services: {
      ...standIns().services,
      'auth.authenticator': {
        authenticate: ({ value }: Credential) =>
          value === 'ada'
            ? people.ada
            : { ...people.mo, kind: 'token', grants: ['monitor:share', ...tokens[value]!] },
      },
    },
  });
  const send = async (as: string, method: string, to: string, body: unknown): Promise<Response> =>
    house.fetch(to, {
      method,
      headers: { authorization: `Bearer ${as}` },
      body: JSON.stringify(body),
    });
  const dashboards = {
    charts: { panels: [{ title: 'Load', type: 'timeseries', query: 'node_load1' }] },
    lines: { panels: [{ title: 'Lines', type: 'logs', query: '{job="shop"}' }] },
    chosen: {
      variables: [{ name: 'job', type: 'query', query: 'label_values(up, job)' }],
      panels: [{ title: 'Lines', type: 'logs', query: '{job="$job"}' }],
    },
  };
  const made: Record<string, string[]> = {};
  for (const [uid, dashboard] of Object.entries(dashboards)) {
    const { status } = await send('ada', 'PUT', `${path}/${uid}`, { title: uid, ...dashboard });
    assert.equal(status, 200);
    for (const as of Object.keys(tokens)) {
      const answer = await send(as, 'POST', `${path}/${uid}/links`, {
        expires_in_s: 300,
        range_s: 600,
      });
      if (answer.status === 201) {
        (made[uid] ??= []).push(as);
      } else {
        assert.equal(answer.status, 403);
        const text = await answer.text();
        assert.match(text, /does not grant read:(monitor|metricsdb|logs)/);
      }
    }
  }
  assert.deepEqual(made, {
    charts: ['metrics', 'both'],
    lines: ['logs', 'both'],
    chosen: ['both'],
  });
});

test('a public link ends with its time, with its dashboard, and while links are turned off', async (t) => {
  let later = 0;
  const { house, ask } = await monitorHouse(t, {
    plugins: ['monitor', 'setting'],
    services: standIns().services,
    clock: { now: () => Date.now() + later, monotonic: () => performance.now() },
  });
  const panels = [{ title: 'Load', type: 'timeseries', query: 'node_load1' }];
  const make = async (uid: string): Promise<string> => {
    await ask('PUT', `${path}/${uid}`, { as: 'mo', body: { title: uid, panels } });
    const made = await ask('POST', `${path}/${uid}/links`, {
      as: 'mo',
      body: { expires_in_s: 300, range_s: 600 },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.token;
  };
  const statusOf = async (token: string): Promise<number> =>
    (await house.fetch(shared(token), { headers: { authorization: '' } })).status;
  const gone = await make('gone');
  assert.equal(await statusOf(gone), 200);
  await ask('DELETE', `${path}/gone`, { as: 'mo' });
  assert.equal(await statusOf(gone), 404, 'with its dashboard');
  await ask('POST', `${path}/gone/versions/1/restore`, { as: 'mo' });
  assert.equal(await statusOf(gone), 404, 'and does not come back with it');

  const late = await make('late');
  assert.equal(await statusOf(late), 200);
  const allow = async (value: boolean): Promise<void> => {
    const key = '/api/v1/system-settings/monitor/public_links';
    assert.equal((await ask('PUT', key, { body: { value } })).status, 200);
  };
  await allow(false);
  assert.equal(await statusOf(late), 404, 'while links are turned off');
  const refused = await ask('POST', `${path}/late/links`, {
    as: 'mo',
    body: { expires_in_s: 300, range_s: 600 },
  });
  assert.equal(refused.status, 409, JSON.stringify(refused.body));
  await allow(true);
  assert.equal(await statusOf(late), 200);
  later = 301_000;
  assert.equal(await statusOf(late), 404);
  assert.equal((await ask('GET', '/api/v1/monitor/links', { as: 'mo' })).body.total, 0);
});
