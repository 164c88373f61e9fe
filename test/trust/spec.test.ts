import assert from 'node:assert/strict';
import { test } from 'node:test';

import { areas, rowsOf } from './area.ts';
import { household } from './household.ts';

test('every room has its routes written down by hand, and serves those, under that guard, documented, and no others', async (t) => {
  const { all, missing } = await areas();
  assert.deepEqual(missing, []);
  const { house, ask } = await household(t);
  const { body: document } = await ask('GET', '/api/v1/openapi.json', house.token);
  const served = new Map(
    [...house.registry.current.routes.values()].map(
      ({ owner, value: { method, path, access, devices = 'refused' } }) => {
        const who =
          typeof access === 'object'
            ? `${access.action}|${['self', 'machine', 'people'].find((also) => also in access)}`
            : access;
        return [
          `${method} ${path}`,
          {
            plugin: owner.pluginId,
            who,
            devices,
            documented: document.paths[path]?.[method.toLowerCase()] !== undefined,
          },
        ];
      },
    ),
  );
  const wrong: string[] = [];
  for (const row of [...all].flatMap(([plugin, area]) => rowsOf(plugin, area))) {
    const key = `${row.method} ${row.path}`;
    const found = served.get(key);
    served.delete(key);
    if (found === undefined) {
      wrong.push(
        `${key} is written down in test/trust/routes/${row.plugin}.ts, but nobody serves it`,
      );
    } else if (found.plugin !== row.plugin || found.who !== row.who) {
      wrong.push(
        `${key} should be served by ${row.plugin} for ${row.who}, and is by ${found.plugin} for ${found.who}`,
      );
    } else if (row.stance !== undefined && found.devices !== row.stance) {
      wrong.push(
        `${key} should be ${row.stance} for members of an organization with a device selector, and is ${found.devices}`,
      );
    } else if (!found.documented) {
      wrong.push(`${key} is not in the OpenAPI document`);
    }
  }
  for (const [key, { plugin, who }] of served) {
    wrong.push(
      `${key} is served by ${plugin} for ${who}: add it to test/trust/routes/${plugin}.ts, if that is who the specification means`,
    );
  }
  assert.deepEqual(wrong, []);
});
