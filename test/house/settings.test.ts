import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { projectRoot } from './source.ts';

interface Part {
  readonly pattern?: string;
  readonly examples?: readonly string[];
}

type Settings = Readonly<Record<string, { readonly schema: object; readonly sensitive?: boolean }>>;

const json = (...path: string[]): unknown =>
  JSON.parse(readFileSync(join(projectRoot, ...path), 'utf8'));

function* allSettings(): Iterable<[key: string, setting: Settings[string]]> {
  yield* Object.entries(json('config', 'core-settings.json') as Settings);
  for (const plugin of readdirSync(join(projectRoot, 'plugins')).filter((id) =>
    existsSync(join(projectRoot, 'plugins', id, 'plugin.json')),
  )) {
    yield* Object.entries(
      (json('plugins', plugin, 'plugin.json') as { settings?: Settings }).settings ?? {},
    );
  }
}

/** Every part of the schema that has a regular expression. */
function* partsWithPattern(schema: unknown): Iterable<Part & { readonly pattern: string }> {
  if (typeof schema === 'object' && schema !== null) {
    if (typeof (schema as Part).pattern === 'string') {
      yield schema as Part & { readonly pattern: string };
    }
    for (const part of Object.values(schema)) {
      yield* partsWithPattern(part);
    }
  }
}

test('a setting whose values have a form shows it by an example, since a refusal says that and no regular expression', () => {
  let seen = 0;
  for (const [key, { schema, sensitive }] of allSettings()) {
    for (const { pattern, examples } of partsWithPattern(schema)) {
      seen += 1;
      assert.ok(
        examples !== undefined && examples.length > 0,
        `${key}: add "examples" beside "pattern": "${pattern}"`,
      );
      // The example of a secret would be set by somebody: it may be words about it.
      assert.ok(
        sensitive === true || new RegExp(pattern, 'u').test(examples[0]!),
        `${key}: the example ${examples[0]} does not fit "${pattern}"`,
      );
    }
  }
  assert.ok(seen > 50);
});
