import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { checkout, scratch, svc } from './launcher.ts';

const greeting = `import { type Command, Failure, printable } from 'svc/cli';
import { messageOf } from 'svc/sdk';
import { wordOf } from './word.ts';

export const command: Command = {
  operands: ['[name]'],
  options: {},
  about: '',
  example: 'svc greet Ann',
  async run(call, shell) {
    const name = call.optionalOperand(0);
    if (name === 'nobody') {
      throw new Failure(4, 'not_found', messageOf(new Error('nobody is there')));
    }
    return { data: { name, version: shell.version }, text: () => printable(wordOf(name ?? 'you')) };
  },
};
`;

interface Written {
  readonly contributes?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly kind?: string;
}

/** A plugin of data with one command, in a folder of plugins. */
function greeter(folder: string, id: string, { contributes, files, kind = 'area' }: Written = {}) {
  const home = join(folder, id);
  const manifest = {
    id,
    version: '0.1.0',
    title: id,
    description: 'Greets.',
    kind,
    engines: { host: '*' },
    contributes: contributes ?? {
      'cli.commands': { greet: { summary: 'Greet somebody', file: 'cli/greet.ts' } },
    },
  };
  const all = {
    'plugin.json': JSON.stringify(manifest),
    'cli/greet.ts': greeting,
    'cli/word.ts': 'export const wordOf = (name: string): string => `Hello ${name}`;\n',
    ...files,
  };
  mkdirSync(join(home, 'cli'), { recursive: true });
  for (const [name, text] of Object.entries(all)) {
    writeFileSync(join(home, name), text);
  }
}

const stand = (t: TestContext) => {
  const root = checkout(t, 'host');
  const data = join(scratch(t), 'data');
  const run = (...args: string[]) => svc([...args, '--data', data], { root });
  return { root, data, run };
};

test('a command stands in the folder of its area, and comes and goes with it', async (t) => {
  const { root, run } = stand(t);
  assert.match((await run('greet')).stderr, /unknown command "greet"/);

  greeter(join(root, 'plugins'), 'greeter');
  assert.match((await run('help')).stdout, /^ {2}greet +Greet somebody$/m);
  assert.equal((await run('greet', 'Ann')).stdout, 'Hello Ann\n');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  assert.deepEqual((await run('greet', '--json')).json(), { version });
  assert.match((await run('help', 'greet')).stdout, /svc greet \[name\]/);

  renameSync(join(root, 'plugins', 'greeter'), join(root, 'away'));
  assert.match((await run('greet')).stderr, /unknown command "greet"/);
});

test('what it throws and what it was not told come out as of every other command', async (t) => {
  const { root, run } = stand(t);
  greeter(join(root, 'plugins'), 'greeter');
  const refused = await run('greet', 'nobody');
  assert.deepEqual([refused.code, refused.stderr], [4, 'svc: nobody is there\n']);
  const surplus = await run('greet', 'Ann', 'Bob');
  assert.equal(surplus.code, 2);
  assert.match(surplus.stderr, /unexpected argument "Bob"/);
});

test('a change of a file of it is seen by the next call', async (t) => {
  const { root, run } = stand(t);
  greeter(join(root, 'plugins'), 'greeter');
  assert.equal((await run('greet')).stdout, 'Hello you\n');
  writeFileSync(
    join(root, 'plugins', 'greeter', 'cli', 'word.ts'),
    'export const wordOf = (name: string): string => `Good morning ${name}`;\n',
  );
  assert.equal((await run('greet')).stdout, 'Good morning you\n');
});

test('one that cannot work is named, and the others go on', async (t) => {
  const { root, run } = stand(t);
  const plugins = join(root, 'plugins');
  greeter(plugins, 'greeter', { files: { 'cli/word.ts': 'export const wordOf = ;\n' } });
  assert.match((await run('greet')).stderr, /greeter does not compile: .*word\.ts:1/);
  greeter(plugins, 'greeter', { files: { 'cli/greet.ts': 'export const other = 1;\n' } });
  assert.match((await run('greet')).stderr, /greet\.ts does not export "command"/);
  greeter(plugins, 'greeter', {
    contributes: { 'cli.commands': { greet: { summary: 'Greet', file: 'cli/gone.ts' } } },
  });
  assert.match((await run('greet')).stderr, /names cli\/gone\.ts, which is not in the folder/);
  assert.match(
    (await run('plugin', 'check', join(plugins, 'greeter'))).stdout,
    /names cli\/gone\.ts, which is not in the folder/,
  );
  greeter(plugins, 'greeter', { contributes: { 'cli.commands': { greet: null } } });
  assert.equal((await run('help')).code, 0);
});

test('code of a pack never runs in the command line', async (t) => {
  const { data, run } = stand(t);
  greeter(join(data, 'packs'), 'greeter', { kind: 'pack' });
  assert.match((await run('greet')).stderr, /unknown command "greet"/);
  const checked = await run('plugin', 'check', join(data, 'packs', 'greeter'));
  assert.equal(checked.code, 1);
  assert.match(checked.stdout, /a pack cannot bring code for the command line/);
  rmSync(join(data, 'packs', 'greeter'), { recursive: true });
});
