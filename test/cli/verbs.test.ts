import 'reflect-metadata';

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { paintFor } from 'svc/cli';
import { commandOf } from '../../bin/cli/verbs/command.ts';
import { offered } from '../../bin/cli/offered.ts';
import { shown } from '../../bin/cli/verbs/show.ts';
import { type Verb, verbsOf } from '../../bin/manifest/verb.ts';
import { examine } from '../../bin/dev/examine/examine-plugin.ts';
import { readManifest } from '../../bin/manifest/read-manifest.ts';
import { folderOnDisk } from '../../core/host/index.ts';
import { checkout, scratch, serving, svc } from './launcher.ts';

const plain = paintFor({}, {});

const lampList = {
  summary: 'Every lamp',
  example: 'svc lamp list',
  method: 'GET',
  path: '/api/v1/lamps',
  options: {
    lit: { about: 'only those that are lit' },
    room: { about: 'only those of a room', value: 'name' },
  },
  list: {
    columns: [
      { header: 'LAMP', text: '{name}' },
      { header: 'STATE', text: '{state}', paint: { lit: 'good' } },
      { header: 'SINCE', text: '{since}', none: 'ever' },
    ],
    empty: 'There is no lamp',
  },
};
const lampSwitch = {
  summary: 'Switch a lamp',
  example: 'svc lamp switch 7 --to lit',
  method: 'PUT',
  path: '/api/v1/lamps/{id}',
  operands: [{ name: 'id', type: 'integer', complaint: 'a lamp is named by its number' }],
  options: {
    to: { about: 'lit or dark', value: 'state', as: 'state' },
    'fade-in': { about: 'in seconds', value: 'seconds', type: 'integer', default: '1' },
  },
  text: ['{name} is ', { text: '{state}' }, { text: ' after {fade_in} s', when: 'fade_in' }],
  expect: { field: 'state', value: 'lit' },
};
const lampBreak = {
  summary: 'Break a lamp',
  example: 'svc lamp break 7',
  method: 'POST',
  path: '/api/v1/lamps/{id}/break',
  operands: [{ name: 'id' }],
  options: {
    confirm: { about: 'the word', value: 'word' },
    reason: { about: 'why', value: 'text' },
    hard: { about: 'at once' },
  },
  confirm: 'confirm',
  text: ['{name} is broken'],
};

/** A folder as somebody might write it, with these commands. */
function plugin(at: string, verbs: object, more: object = {}): string {
  mkdirSync(at, { recursive: true });
  const manifest = {
    id: 'lamp',
    version: '1.0.0',
    title: 'Lamp',
    description: 'A lamp.',
    engines: { host: '^1.0.0' },
    mounts: ['/api/v1/lamps'],
  };
  writeFileSync(
    join(at, 'plugin.json'),
    JSON.stringify({ ...manifest, ...more, contributes: { 'cli.verbs': verbs } }),
  );
  return at;
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'svc-verbs-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const read = (path: string, id = 'lamp'): Readonly<Record<string, Verb>> =>
  verbsOf(readManifest(folderOnDisk(id, path, 'shipped')));

test('a command of a plugin is there as long as the folder of the plugin is, without a svc that runs', async (t) => {
  const root = checkout(t, 'host', 'version');
  plugin(join(root, 'plugins', 'lamp'), {
    'lamp list': lampList,
    'plugin list': { ...lampList, example: 'svc plugin list' },
  });
  const data = scratch(t);
  const help = async (): Promise<string> => (await svc(['help', '--data', data], { root })).stdout;
  assert.match(await help(), /^ {2}lamp list +Every lamp$/m);
  assert.match(
    await help(),
    /^ {2}plugin list +List plugins and their states$/m,
    'no plugin takes the command of another',
  );
  assert.doesNotMatch(
    await help(),
    /^ {2}user |^ {2}audit |^ {2}login /m,
    'areas that are not there have no commands',
  );
  const page = (await svc(['lamp', 'list', '--help'], { root })).stdout;
  assert.match(page, /^ {2}svc lamp list \[--lit\] \[--room <name>\] \[--profile <name>\]/m);

  rmSync(join(root, 'plugins', 'lamp'), { recursive: true });
  rmSync(join(root, 'plugins', 'host'), { recursive: true });
  const gone = await svc(['lamp', 'list', '--data', data], { root });
  assert.deepEqual(
    [gone.code, gone.stderr],
    [2, 'svc: unknown command "lamp"; "svc help" lists all commands\n'],
  );
  assert.doesNotMatch(await help(), /lamp|plugin (?:list|why|reload)/);

  plugin(join(data, 'packs', 'lamp'), {
    'lamp list': { ...lampList, summary: 'Every\u001b[2J lamp' },
  });
  writeFileSync(join(data, 'packs', 'broken'), '');
  assert.match(await help(), /^ {2}lamp list +Every \[2J lamp$/m);
  const broken = await svc(['lamp', 'list', '--data', data], { root });
  assert.equal(broken.code, 1);
  assert.match(
    broken.stderr,
    /plugin\.json of lamp: contributes\["cli\.verbs"\]: lamp list\.summary must match pattern/,
  );
});

test('a verb becomes one request, and its answer a sentence, a table or fields; a misfit is refused before anything is sent', async (t) => {
  const root = checkout(t, 'host');
  const lamp = join(root, 'plugins', 'lamp');
  const fields = [
    { header: 'name', text: '{name}' },
    { header: 'state', text: '{state}' },
    { header: 'left', text: '{problem}', when: 'problem' },
  ];
  const show = {
    summary: 'One lamp',
    example: 'svc lamp show 7',
    method: 'GET',
    path: '/api/v1/lamps/{id}',
    operands: [
      {
        name: 'id',
        type: 'integer',
        named: { list: '/api/v1/lamps', by: 'name' },
        complaint: 'a lamp is named by its number or its name',
      },
    ],
    fields,
  };
  const manifest = { actions: { 'lamp:switch': 'Switch lamps.' }, entry: 'index.ts' };
  plugin(
    lamp,
    {
      'lamp list': lampList,
      'lamp switch': lampSwitch,
      'lamp show': show,
      'lamp break': lampBreak,
    },
    manifest,
  );
  writeFileSync(
    join(lamp, 'index.ts'),
    `import { definePlugin, listRoute, route, SvcError } from 'svc/sdk';
import { Type } from 'typebox';
const Lamp = Type.Object({ id: Type.Integer(), name: Type.String(), state: Type.String(), since: Type.Union([Type.Null(), Type.String()]), fade_in: Type.Optional(Type.Integer()) });
const params = Type.Object({ id: Type.Integer() });
const one = { id: 7, name: 'hall\\u001b[2J', state: 'lit', since: null };
const shelf = [[9, 'desk'], [8, 'desk'], [7, 'hall 1'], [6, 'hall 11']].map(([id, name]) => ({ ...one, id, name }));
export default definePlugin({ activate(ctx) {
  ctx.http.routes([
    listRoute({ path: '/api/v1/lamps', access: 'any', summary: 'Lamps', items: Lamp, query: Type.Object({ q: Type.Optional(Type.String()), lit: Type.Optional(Type.Boolean()), room: Type.Optional(Type.String()) }),
      handle: async ({ query }) => ({ items: query.q === undefined ? (query.room === 'cellar' && query.lit === true ? [] : [one]) : shelf.filter(({ name }) => name.includes(query.q)), total: 1, next: undefined }) }),
    route({ method: 'GET', path: '/api/v1/lamps/{id}', access: 'any', summary: 'Lamp', params, response: Lamp, handle: ({ params }) => ({ ...one, id: params.id, state: params.id === 7 ? 'lit' : 'dark' }) }),
    route({ method: 'PUT', path: '/api/v1/lamps/{id}', access: 'admin', summary: 'Switch', params, body: Type.Object({ state: Type.String(), fade_in: Type.Optional(Type.Integer()) }), response: Lamp, action: 'lamp:switch',
      handle: ({ body }) => ({ ...one, ...body }) }),
    route({ method: 'POST', path: '/api/v1/lamps/{id}/break', access: 'admin', summary: 'Break', params, response: Lamp, action: 'lamp:switch', status: 200, errors: ['conflict'],
      body: Type.Object({ confirm: Type.Optional(Type.String()), reason: Type.Optional(Type.String()), hard: Type.Optional(Type.Boolean()) }),
      handle: ({ body }) => {
        if (body.confirm === 'yes it is' && body.reason !== undefined) return one;
        throw new SvcError('conflict', 'the lamp is not broken yet: it\u001b[2J shines. Send the same again with "confirm" once you agree: x', { reason: 'host.conflict', details: [
          { path: '/confirm', message: 'yes it is' }, { path: '/options/reason', message: 'why it goes' }, { path: '/hard', message: 'as a stone' }, { path: '/needs/0', message: 'a hammer' }, { path: '/needs/1', message: 'gloves' }, { path: '/state', message: 'lit' }] });
      } }),
  ]);
} });`,
  );
  const here = await serving(t, join(scratch(t), 'data'), { root });
  const call = (...args: string[]) => svc([...args, '--data', here.dataDir], { root });

  assert.equal(
    (await call('lamp', 'list')).stdout,
    'LAMP      STATE  SINCE\nhall [2J  lit    ever\n',
  );
  assert.equal(
    (await call('lamp', 'list', '--lit', '--room', 'cellar')).stdout,
    'There is no lamp\n',
  );
  assert.equal((await call('lamp', 'list', '--json')).json<{ items: unknown[] }>().items.length, 1);
  assert.equal((await call('lamp', 'show', '7')).stdout, 'name   hall [2J\nstate  lit\n');
  const lit = await call('lamp', 'switch', '7', '--to', 'lit', '--fade-in', '3');
  assert.deepEqual([lit.code, lit.stdout], [0, 'hall [2J is lit after 3 s\n'], lit.stderr);
  const dark = await call('lamp', 'switch', '7', '--to', 'dark');
  assert.deepEqual(
    [dark.code, dark.stdout],
    [1, 'hall [2J is dark after 1 s\n'],
    'an option that is not given has its default',
  );
  const question = await call('lamp', 'break', '7', '--hard');
  assert.equal(question.code, 5, question.stderr);
  assert.equal(
    question.stdout.replaceAll(here.dataDir, 'DATA'),
    `the lamp is not broken yet\n\nhard   as a stone\nneeds  a hammer\n       gloves\nstate  lit\n\nTo confirm:\n  svc lamp break 7 --hard --data DATA --confirm 'yes it is' --reason '<why it goes>'\n`,
  );
  assert.equal(
    (await call('lamp', 'break', '7', '--json')).json<{ error: string }>().error,
    'conflict',
  );
  assert.equal(
    (await call('lamp', 'break', '7', '--confirm', 'yes it is', '--reason', 'because')).stdout,
    'hall [2J is broken\n',
  );
  assert.equal(
    (await call('lamp', 'switch', 'seven')).stderr,
    'svc: a lamp is named by its number\n',
  );
  assert.equal(
    (await call('lamp', 'switch', '7', '--fade-in', 'soon')).stderr,
    'svc: --fade-in must be a whole number\n',
  );
  assert.equal(
    (await call('lamp', 'show', '..')).stderr,
    'svc: a lamp is named by its number or its name\n',
  );
  assert.equal((await call('lamp', 'break', '..')).stderr, 'svc: <id> cannot be ".."\n');
  assert.equal((await call('lamp', 'show', 'hall 1')).stdout, 'name   hall [2J\nstate  lit\n');
  const two = await call('lamp', 'show', 'desk');
  assert.deepEqual([two.code, two.stderr], [2, 'svc: "desk" matches 8, 9: use the number\n']);
  assert.equal(
    (await call('lamp', 'show', 'hall')).stderr,
    'svc: nothing is named "hall"; a lamp is named by its number or its name\n',
  );
  assert.equal(
    (await call('lamp', 'show')).stderr,
    'svc: "svc lamp show" needs <id>; "svc help lamp show" shows an example\n',
  );
});

const faults: readonly [what: string, change: object, sentence: RegExp][] = [
  [
    'two ways to show',
    { fields: [{ header: 'x', text: '{x}' }] },
    /must have exactly one of "list", "fields" and "text"/,
  ],
  ['a list of what is changed', { method: 'PATCH' }, /has "list" with PATCH/],
  [
    'the route of another plugin',
    { path: '/api/v1/users' },
    /calls \/api\/v1\/users, which is not below "mounts"/,
  ],
  [
    'a way out of its own routes',
    { path: '/api/v1/lamps/../users/2' },
    /calls \/api\/v1\/lamps\/\.\.\/users\/2, whose "\." and "\.\." lead to another path/,
  ],
  ['a way that stays', { path: '/api/v1/lamps/./x' }, /lead to another path/],
  [
    'a way out to names',
    {
      operands: [
        { name: 'a', type: 'integer', named: { list: '/api/v1/lamps/../users', by: 'name' } },
      ],
    },
    /lead to another path/,
  ],
  ['a route that only begins alike', { path: '/api/v1/lampshades' }, /not below "mounts"/],
  [
    'a name that another plugin knows',
    { operands: [{ name: 'a', type: 'integer', named: { list: '/api/v1/users', by: 'name' } }] },
    /calls \/api\/v1\/users, which is not below/,
  ],
  [
    'a name for what is no number',
    { operands: [{ name: 'a', named: { list: '/api/v1/lamps', by: 'name' } }] },
    /"named" that is not an integer/,
  ],
  [
    'a path that nothing fills',
    { path: '/api/v1/lamps/{id}' },
    /has \{id\} in its path, but no required operand/,
  ],
  [
    'an operand behind an optional one',
    { operands: [{ name: 'a', optional: true }, { name: 'b' }] },
    /after an optional one/,
  ],
  ['one name for two', { operands: [{ name: 'lit' }] }, /uses the name "lit" for both/],
  [
    'an unknown format',
    { list: { columns: [{ header: 'X', text: '{x|loud}' }], empty: 'None' } },
    /shows \{x\|loud\}; .*\|plain, \|value, \|lines, \|size, \|duration/,
  ],
  [
    'a body where there is none',
    { options: { lit: { about: 'x', in: 'body' } } },
    /puts a value into the body of a GET/,
  ],
  [
    'another example',
    { example: 'svc lamp lists' },
    /example that does not begin with "svc lamp list"/,
  ],
  ['an unknown field', { colour: 'red' }, /unknown field "colour"/],
  ['no request', { path: undefined }, /lacks "path"/],
  [
    'an escape in a text',
    { list: { columns: [{ header: 'X', text: '\u001b[2J{x}' }], empty: 'None' } },
    /text must match pattern/,
  ],
];

for (const [what, change, sentence] of faults) {
  test(`"svc plugin check" refuses a command with ${what}`, async (t) => {
    const path = plugin(join(folder(t), 'lamp'), { 'lamp list': { ...lampList, ...change } });
    const { problems } = await examine(path);
    assert.equal(problems.length, 1, JSON.stringify(problems));
    assert.match(problems[0]!.message, sentence);
    assert.throws(() => read(path), sentence);
  });
}

test('every command that the product brings is sound, and says how it is called', async () => {
  const catalogue = await offered({});
  for (const name of catalogue.names) {
    const command = await catalogue.load(name);
    assert.ok(command.example.startsWith(`svc ${name}`) || name === 'serve', name);
  }
});

test('every command that tests a connection fails where the connection does', () => {
  const plugins = join(import.meta.dirname, '../../plugins');
  const shipped = readdirSync(plugins).filter((id) => existsSync(join(plugins, id, 'plugin.json')));
  const tests = shipped.flatMap((id) =>
    Object.entries(read(join(plugins, id), id)).filter(([, verb]) => verb.path.endsWith('/test')),
  );
  assert.ok(tests.length >= 3);
  for (const [words, { expect }] of tests) {
    const arrives = { field: 'result', value: 'sent' };
    assert.deepEqual(
      expect,
      words === 'channel test' ? arrives : { field: 'ok', value: true },
      words,
    );
  }
});

test('values are written for people: lists, sizes, durations, nothing, and no more than fits', () => {
  const verb = (text: Verb['text']): Verb => ({
    ...({ method: 'GET', path: '/x', operands: [], options: {} } as unknown as Verb),
    text: text!,
  });
  const answer = {
    list: ['a', 'b'],
    bytes: 1536,
    took: { one: 1.25, two: 2 },
    ms: 40,
    none: null,
    empty: [],
    long: 'x'.repeat(30),
    page: '# One\r\n\n\ttwo\n',
    sly: 'a\u001b[2J\nb',
    deep: { er: 'down' },
  };
  const cases: readonly [NonNullable<Verb['text']>[number], string][] = [
    ['{list}', 'a, b'],
    ['{list|value}', '["a","b"]'],
    ['{bytes|size}', '1.5 KiB'],
    ['{took|duration}', '3.3 ms'],
    ['{ms|duration}', '40 ms'],
    ['{page}', '# One two '],
    ['{page|lines}', '# One\n\n    two'],
    ['{sly|lines}', 'a [2J\nb'],
    ['{none}{missing}{deep.gone}{__proto__}', ''],
    ['{deep.er}', 'down'],
    [{ text: '{none}', none: 'never' }, 'never'],
    [{ text: 'there', when: 'empty' }, ''],
    [{ text: '{long}', width: 8 }, 'xxxxxxx…'],
  ];
  for (const [piece, text] of cases) {
    assert.equal(shown(verb([piece]), answer, plain), text, JSON.stringify(piece));
  }
  const colours = paintFor({ isTTY: true }, {});
  assert.equal(
    shown(verb([{ text: '{deep.er}', paint: { '*': 'bad' } }]), answer, colours),
    colours.bad('down'),
  );
  assert.equal(
    commandOf({ ...verb(['x']), operands: [{ name: 'id', type: 'text', optional: true }] }, 'x')
      .operands[0],
    '[id]',
  );
});
