import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { typedValue } from '../../plugins/setting/cli/settings.ts';
import { checkout, scratch, serving, svc } from './launcher.ts';

const settings = {
  'torch.brightness': {
    schema: { type: 'integer', maximum: 100 },
    default: 10,
    description: 'How bright.',
  },
  'torch.colors': {
    schema: { type: 'array', items: { type: 'string' } },
    default: ['white'],
    description: 'Which colors.',
  },
  'torch.api_key': {
    schema: { type: 'string' },
    sensitive: true,
    description: 'Opens the lamp shop.',
  },
};

test('a person reads, sets and unsets settings of the svc that runs, and rotates its key', async (t) => {
  const root = checkout(t, 'keys', 'setting');
  mkdirSync(join(root, 'plugins', 'torch'));
  const manifest = {
    id: 'torch',
    version: '1.0.0',
    title: 'Torch',
    description: 'A torch.',
    engines: { host: '^1.0.0' },
    settings,
  };
  writeFileSync(join(root, 'plugins', 'torch', 'plugin.json'), JSON.stringify(manifest));
  const here = await serving(t, join(scratch(t), 'data'), { root });
  const call = (args: readonly string[], stdin?: string) =>
    svc([...args, '--data', here.dataDir], { root, ...(stdin !== undefined && { stdin }) });

  await t.test(
    'list shows each with its value and source, as a table and as a document',
    async () => {
      const { code, stdout } = await call(['setting', 'list']);
      assert.equal(code, 0);
      assert.match(stdout, /^SETTING +VALUE +SOURCE +PROBLEM$/m);
      assert.match(stdout, /^log\.level +info +default$/m);
      assert.match(stdout, /^torch\.colors +\["white"\] +default$/m);
      const { items } = (await call(['setting', 'list', '--json'])).json<{
        items: { key: string; source: string }[];
      }>();
      assert.equal(items.find(({ key }) => key === 'brightness')?.source, 'default');
    },
  );

  await t.test('set takes effect at once, and a refusal says why', async () => {
    assert.equal(
      (await call(['setting', 'set', 'torch.brightness', '70'])).stdout,
      'torch.brightness is 70\n',
    );
    assert.equal((await call(['setting', 'get', 'torch.brightness'])).stdout, '70\n');
    assert.equal(
      (await call(['setting', 'set', 'torch.colors'], 'red, blue\n')).stdout,
      'torch.colors is ["red","blue"]\n',
    );
    const refused = await call(['setting', 'set', 'torch.brightness', '700']);
    assert.deepEqual(
      [refused.code, refused.stderr],
      [4, 'svc: the value must be <= 100 (torch.brightness: How bright.)\n'],
    );
    const unknown = await call(['setting', 'set', 'torch.brightnes', '7']);
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [4, 'svc: there is no setting "torch.brightnes"; did you mean "torch.brightness"?\n'],
    );
  });

  await t.test(
    'a secret is not taken from the arguments, shown masked, and revealed when asked for',
    async () => {
      const typed = await call(['setting', 'set', 'torch.api_key', 'hunter2']);
      assert.equal(typed.code, 2);
      assert.match(typed.stderr, /is a secret, and every user of this machine can read arguments/);
      assert.ok(!typed.stderr.includes('hunter2'));
      assert.equal(
        (await call(['setting', 'set', 'torch.api_key'], 'hunter2\n')).stdout,
        'torch.api_key is ••••\n',
      );
      assert.equal((await call(['setting', 'get', 'torch.api_key'])).stdout, '••••\n');
      assert.equal(
        (await call(['setting', 'get', 'torch.api_key', '--reveal'])).stdout,
        'hunter2\n',
      );
    },
  );

  await t.test('key rotate tells which key seals now and what became of the old one', async () => {
    const { code, stdout } = await call(['key', 'rotate']);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^Key [0-9a-f]{8} is now in use; secrets encrypted again: 1\nNo longer needed: [0-9a-f]{8}\./,
    );
    assert.equal((await call(['setting', 'get', 'torch.api_key', '--reveal'])).stdout, 'hunter2\n');
  });

  await t.test('unset goes back to the default', async () => {
    assert.equal(
      (await call(['setting', 'unset', 'torch.brightness'])).stdout,
      'torch.brightness is 10 now, from: default\n',
    );
    assert.equal(
      (await call(['setting', 'unset', 'torch.api_key'])).stdout,
      'torch.api_key is empty now, from: default\n',
    );
    assert.equal((await call(['setting', 'unset', 'torch.bright'])).code, 4);
  });
});

test('what is typed is read as the declared type', () => {
  const setting = (type?: string) => ({
    category: 'x',
    key: 'y',
    value: null,
    sensitive: false,
    source: 'default',
    schema: type === undefined ? {} : { type },
  });
  for (const [type, text, value] of [
    ['string', '12', '12'],
    ['integer', '12', 12],
    ['boolean', 'true', true],
    ['array', 'a, b', ['a', 'b']],
    ['array', '["a,b"]', ['a,b']],
    ['array', '', []],
    ['object', '{"a":1}', { a: 1 }],
    ['integer', 'many', 'many'],
    [undefined, 'debug', 'debug'],
  ] as const) {
    assert.deepEqual(typedValue(text, setting(type)), value);
  }
});
