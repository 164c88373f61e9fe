import 'reflect-metadata';

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { offered } from '../../bin/cli/offered.ts';
import { paintFor } from 'svc/cli';
import { projectRoot, scratch, svc } from './launcher.ts';

const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  version: string;
};

test('svc without a word shows every command, the options of all of them and the exit codes', async () => {
  const { code, stdout, stderr } = await svc([]);
  assert.equal(code, 0);
  assert.equal(stderr, '');
  const { names } = await offered({});
  assert.ok(names.length > 30);
  for (const name of names) {
    assert.match(stdout, new RegExp(`^  ${name} +\\S`, 'm'));
  }
  assert.match(stdout, /--json/);
  assert.match(stdout, /^ {2}3 +svc is not running/m);
  assert.equal((await svc(['--help'])).stdout, stdout);
});

test('every command has a page with its usage and an example that it can read', async () => {
  const catalogue = await offered({});
  for (const name of catalogue.names) {
    const command = await catalogue.load(name);
    assert.match(command.example, new RegExp(`svc ${name}\\b`));
  }
  const { code, stdout } = await svc(['help', 'plugin', 'disable']);
  assert.equal(code, 0);
  assert.match(stdout, /svc plugin disable <id> \[--cascade\]/);
  assert.equal((await svc(['plugin', 'disable', '--help'])).stdout, stdout);
});

test('"svc help plugin" lists what can be done with plugins', async () => {
  const { commands } = (await svc(['help', 'plugin', '--json'])).json<{
    commands: { name: string }[];
  }>();
  assert.ok(commands.length > 5);
  assert.ok(commands.every(({ name }) => name.startsWith('plugin ')));
  assert.deepEqual(
    (await svc(['plugin', '--help', '--json'])).json<{ commands: { name: string }[] }>().commands,
    commands,
  );
});

test('svc version says which one it is, to people and to scripts', async () => {
  assert.match(
    (await svc(['version'])).stdout,
    new RegExp(`^svc ${version} \\(from source, node v`),
  );
  assert.equal((await svc(['--version'])).stdout, (await svc(['version'])).stdout);
  assert.deepEqual((await svc(['version', '--json'])).json(), {
    version,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    packaging: 'source',
  });
});

/** Command lines, with the error sentence expected. */
const misspelt: readonly [args: string[], sentence: RegExp][] = [
  [['sreve'], /unknown command "sreve"; did you mean "serve"\?/],
  [['plguin', 'list'], /unknown command "plguin"; did you mean "plugin"\?/],
  [['plugin', 'lst'], /unknown command "svc plugin lst"; did you mean "svc plugin list"\?/],
  [['plugin', 'xyzzyx'], /available: build, check, disable, enable/],
  [['plugin'], /"svc plugin" needs a subcommand: build, check/],
  [['qqqqqqqq'], /unknown command "qqqqqqqq"; "svc help" lists all commands/],
  [['version', '--jsno'], /unknown option --jsno; did you mean "--json"\?/],
  [['plugin', 'disable', 'x', '--cascad'], /did you mean "--cascade"\?/],
  [['plugin', 'disable', 'x', '--cascade=yes'], /--cascade is a flag/],
  [['plugin', 'why'], /"svc plugin why" needs <id>/],
  [['plugin', 'why', 'a', 'b'], /unexpected argument "b"/],
  [['plugin', 'list', '--data'], /--data needs a value/],
  [['plugin', 'list', '--data', '--json'], /--data needs a value/],
  [['plugin', 'new', 'Bad_Id'], /cannot be the id of a plugin/],
  [['help', 'serv'], /did you mean "serve"\?/],
  [['constructor'], /unknown command "constructor"/],
  [['version', '--toString'], /unknown option --toString/],
];

for (const [args, sentence] of misspelt) {
  test(`"svc ${args.join(' ')}" is refused in one sentence`, async () => {
    const { code, stdout, stderr } = await svc(args);
    assert.equal(code, 2);
    assert.match(args.includes('--json') ? stdout : stderr, sentence);
    assert.equal((args.includes('--json') ? stderr : stdout) === '', true);
    assert.doesNotMatch(stderr, /\n.*\n| at /);
  });
}

test('with --json an error is a document, too, whatever else was misspelt', async () => {
  const { code, stdout, stderr } = await svc(['--json', 'plguin']);
  assert.equal(code, 2);
  assert.equal(stderr, '');
  assert.deepEqual(Object.keys(JSON.parse(stdout) as object), ['error', 'message']);
});

test('a value that the environment holds wrongly stops a command with its name, and never with a stack', async (t) => {
  const data = scratch(t);
  const { code, stderr } = await svc(['plugin', 'list', '--data', data], {
    env: { SVC_LOG_LEVEL: 'loud' },
  });
  assert.equal(code, 1);
  assert.match(stderr, /^svc: .*SVC_LOG_LEVEL.*debug, info, warn, error.*\n$/);
  const unknown = await svc(['doctor', '--json', '--data', data], {
    env: { SVC_HTTP_ADR: '127.0.0.1:0' },
  });
  assert.equal(unknown.code, 1);
  assert.match(unknown.stdout, /SVC_HTTP_ADR.*did you mean SVC_HTTP_ADDR/);
});

test('colours go to a terminal only, and not where they are declined', () => {
  const red = (stream: { isTTY?: boolean }, environment: Record<string, string>): boolean =>
    paintFor(stream, environment).bad('x') !== 'x';
  assert.equal(red({ isTTY: true }, {}), true);
  assert.equal(red({}, {}), false);
  assert.equal(red({ isTTY: true }, { NO_COLOR: '1' }), false);
  assert.equal(red({ isTTY: true }, { NO_COLOR: '' }), true);
  assert.equal(red({ isTTY: true }, { TERM: 'dumb' }), false);
});

test('a reader that leaves early is no failure', async () => {
  const { code, stderr } = await svc(
    [
      '-c',
      `"${process.execPath}" "${join(projectRoot, 'bin', 'svc')}" help | true; exit \${PIPESTATUS[0]}`,
    ],
    {
      program: ['bash'],
      cwd: projectRoot,
    },
  );
  assert.deepEqual([code, stderr], [0, '']);
});
