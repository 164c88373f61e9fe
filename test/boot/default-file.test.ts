import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { coreSettings } from '../../core/boot/settings/core-settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Declared = Readonly<Record<string, { readonly default?: unknown }>>;

const ofPlugin = (id: string): Declared => {
  const file = join(root, 'plugins', id, 'plugin.json');
  return existsSync(file)
    ? ((JSON.parse(readFileSync(file, 'utf8')) as { settings?: Declared }).settings ?? {})
    : {};
};

/** Values by the whole names of their settings. */
const flat = (tree: object, declared: Declared, above = ''): [string, unknown][] =>
  Object.entries(tree).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !Object.hasOwn(declared, above + name)
      ? flat(value, declared, `${above}${name}.`)
      : [[above + name, value] as [string, unknown]],
  );

test('what the shipped file says of a setting is its declared default: a test that starts without the file tests what is shipped', () => {
  const declared: Declared = Object.assign(
    {},
    coreSettings,
    ...readdirSync(join(root, 'plugins')).map(ofPlugin),
  );
  const shipped = flat(
    parse(readFileSync(join(root, 'config/default.yaml'), 'utf8')) as object,
    declared,
  );
  assert.ok(shipped.length > 40, `${shipped.length} settings stand in the file`);
  for (const [name, value] of shipped) {
    assert.ok(Object.hasOwn(declared, name), `${name} is declared by core or a plugin`);
    assert.deepEqual(value, declared[name]!.default, name);
  }
});
