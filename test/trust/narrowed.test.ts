import assert from 'node:assert/strict';
import { test } from 'node:test';

import { areas, rowsOf } from './area.ts';
import { household } from './household.ts';
import { knock } from './knock.ts';

/** Matches routes that end the caller's session. */
const last = /\/logout(-all)?$/;

test('every route answers members of an organization with a device selector as the tables say', async (t) => {
  const { house, ask, person, role } = await household(t);
  const rows = [...(await areas()).all]
    .flatMap(([plugin, area]) => rowsOf(plugin, area))
    .filter(({ path }) => !last.test(path));
  const actions = [...house.registry.current.generations.values()].flatMap(({ manifest }) =>
    Object.keys(manifest.actions),
  );
  await role('everything-but-admin', [...new Set(actions)]);
  const ann = await person('ann', 'everything-but-admin');
  const { body: org } = await ask('POST', '/api/v1/orgs', house.token, {
    name: 'Acme',
    device_selector: 'customer=acme',
  });
  assert.equal(
    (await ask('POST', `/api/v1/orgs/${org.id}/members`, house.token, { user_id: ann.id })).status,
    201,
  );
  assert.deepEqual((await ask('GET', '/api/v1/me', ann.access)).body.device_selectors, [
    'customer=acme',
  ]);

  const wrong: string[] = [];
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const { value: route } = [...house.registry.current.routes.values()].find(
      ({ value }) => value.method === row.method && value.path === row.path,
    )!;
    const path = row.path.replaceAll(/\{[^}]+\}/g, '999999');
    const hasBody = route.body !== undefined || route.consumes !== undefined;
    const { status, text } =
      route.kind === 'socket'
        ? await knock(house.url + path, `Bearer ${ann.access}`, route.protocols)
        : await ask(row.method, path, ann.access, hasBody ? '{}' : undefined);
    const refused =
      status === 403 && text.includes('cannot be limited to the devices of your organization');
    const stance = row.stance ?? row.who;
    counts[stance] = (counts[stance] ?? 0) + 1;
    if (refused !== (row.stance === 'refused') || status >= 500) {
      wrong.push(`${row.method} ${row.path} (${stance}) answered ${status} ${text.slice(0, 120)}`);
    }
  }
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(wrong, []);
});
