import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { type PersonaDirectory, Personas } from 'svc/contracts/persona';
import { Authenticator } from 'svc/sdk';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { readPersona } from 'svc/markdown-file';

import { Directory } from '../../../plugins/persona/directory.ts';
import { askKey } from '../../../plugins/chat/journal/citations.ts';
import { projectRoot } from '../../cli/launcher.ts';

const custom = '/api/v1/agents/custom';
const scout = {
  name: 'scout',
  description: 'Looks ahead.',
  when_to_use: 'Paths, forests and rivers.',
};
const principal = { kind: 'user', id: '7', name: 'Kim', role: 'admin', grants: ['*'] } as const;

const file = (name: string, header = '', body = 'You look.\n'): string =>
  `---\nname: ${name}\ndescription: d\nwhen_to_use: Berries and mushrooms.\n${header}---\n\n${body}`;

interface Stand {
  readonly house: TestHost;
  readonly folder: string;
  readonly directory: PersonaDirectory;
  send(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> & { message: string } }>;
}

async function stand(
  t: TestContext,
  options: {
    readonly services?: Readonly<Record<string, object>>;
    readonly dataDir?: string;
    readonly watch?: boolean;
    readonly plugins?: readonly string[];
  } = {},
): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-personas-'));
  const house = await startTestHost(t, {
    environment: { SVC_AGENTS_EXTERNAL_DIRS: folder },
    ...options,
    plugins: ['persona', 'drop-ins', ...(options.plugins ?? [])],
  });
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    house,
    folder,
    directory: house.service(Personas),
    async send(method, path, body) {
      const response = await house.fetch(path, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
    },
  };
}

test('a persona of a pack that was copied into the data folder only reads, and gets no question', () => {
  const persona = {
    ...readPersona(file('scout', 'permission_mode: mutating-with-confirm\n'), {
      file: 'scout.md',
      source: 'builtin',
    }),
    pack: 'forest',
  };
  const nothing = { list: () => [], gather: () => [] };
  const directory = new Directory({
    published: () => [{ value: persona }],
    own: { all: new Map() },
    versions: { of: () => 1 },
    conditions: { unmet: () => [] },
    restraints: nothing,
    settings: { get: () => '' },
    clock: { now: () => 0, monotonic: () => 0 },
  } as unknown as ConstructorParameters<typeof Directory>[0]);
  const [known] = directory.list();
  assert.equal(known?.permission_mode, 'read-only');
  assert.match(known?.unmet.join() ?? '', /comes with the pack forest, .* "svc market install"/);
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds()); await pause(20)) {
    assert.ok(Date.now() < deadline, 'it never came to that');
  }
}

test('a persona of a user is made, read back, changed and deleted', async (t) => {
  const { house, send } = await stand(t);
  useNoLeaks(t, house);
  const made = await send('POST', custom, {
    ...scout,
    body: '  # Rules\n\n- look  \n',
    colour: 'green',
    metadata: { os: ['linux', 'darwin'], mood: 'calm' },
  });
  assert.equal(made.status, 201);
  const { body: read } = await send('GET', '/api/v1/agents/scout');
  assert.deepEqual(
    [
      read['source'],
      read['permission_mode'],
      read['body'],
      read['unknown_fields'],
      read['metadata'],
      read['version'],
    ],
    [
      'user',
      'read-only',
      '  # Rules\n\n- look  \n',
      { colour: 'green' },
      { os: ['linux', 'darwin'], mood: 'calm' },
      1,
    ],
  );
  // What was read may be sent back as it is.
  const changed = await send('PATCH', `${custom}/scout`, { ...read, max_turns: 7, size: 'small' });
  assert.deepEqual(
    [
      changed.status,
      changed.body['max_turns'],
      changed.body['unknown_fields'],
      changed.body['version'],
    ],
    [200, 7, { colour: 'green', size: 'small' }, 2],
  );
  assert.deepEqual(
    (await house.json('/api/v1/agents')).items.map(
      ({ name, body }: { name: string; body?: string }) => [name, body],
    ),
    [['scout', undefined]],
  );
  assert.equal((await send('DELETE', '/api/v1/agents/scout')).status, 204);
  assert.equal((await send('GET', '/api/v1/agents/scout')).status, 404);
});

test('what is no persona is refused by its field', async (t) => {
  const { send } = await stand(t);
  const wrong: [RegExp, object][] = [
    [/description/, { name: 'a', when_to_use: 'b' }],
    [/name must be/, { ...scout, name: '../a' }],
    [/permission_mode/, { ...scout, permission_mode: 'root' }],
    [/max_turns must be/, { ...scout, max_turns: 101 }],
    [/model must be/, { ...scout, model: 'gpt' }],
    [/template:1:/, { ...scout, initial_prompt: '{{if .a}}' }],
  ];
  for (const [complaint, body] of wrong) {
    const answer = await send('POST', custom, body);
    assert.equal(answer.status, 400, String(complaint));
    assert.match(JSON.stringify(answer.body), complaint);
  }
  assert.equal((await send('POST', custom, scout)).status, 201);
  assert.equal((await send('POST', custom, scout)).status, 409);
  assert.equal((await send('PATCH', `${custom}/scout`, { name: 'other' })).status, 400);
  assert.equal((await send('PATCH', `${custom}/nobody`, { max_turns: 1 })).status, 404);
  assert.equal((await send('DELETE', `${custom}/nobody`)).status, 404);
});

test('a file is a persona at once, a broken one serves its last good version, and one of a user goes before it', async (t) => {
  const { folder, directory, send } = await stand(t, { watch: true });
  const path = join(folder, 'ranger.md');
  writeFileSync(path, file('ranger', 'colour: green\n', '  body  \n\n'));
  await until(() => directory.find('ranger') !== undefined);
  const first = directory.find('ranger')!;
  assert.deepEqual(
    [first.source, first.body, first.version, first.unknown],
    ['disk', '\n  body  \n\n', 1, { colour: 'green' }],
  );

  writeFileSync(path, file('ranger', 'max_turns: 5\n'));
  await until(() => directory.find('ranger')!.max_turns === 5);
  assert.equal(directory.find('ranger')!.version, 2);
  writeFileSync(path, file('ranger', 'max_turns: many\n'));
  await until(async () =>
    JSON.stringify((await send('GET', '/api/v1/drop-ins')).body).includes('max_turns must be'),
  );
  assert.match(
    String((await send('GET', '/api/v1/agents/ranger')).body['problem']),
    /last good version is used: .*max_turns must be/,
  );
  writeFileSync(join(folder, 'poet.md'), '---\nname: poet\n---\nNo header.');
  const listed = async () =>
    (await send('GET', '/api/v1/agents')).body['items'] as { name: string; problem: string }[];
  await until(async () =>
    (await listed()).some(
      ({ name, problem }) => name === 'poet' && /poet\.md: .*description/.test(problem),
    ),
  );
  assert.equal(
    ((await send('GET', '/api/v1/agents?usable=true')).body['items'] as object[]).length,
    1,
  );
  assert.equal(directory.find('ranger')!.max_turns, 5);

  const refused = await send('DELETE', '/api/v1/agents/ranger');
  assert.deepEqual([refused.status, /comes from a file/.test(refused.body.message)], [409, true]);
  await send('POST', custom, { ...scout, name: 'ranger' });
  assert.deepEqual(
    [directory.find('ranger')!.source, directory.find('ranger')!.version],
    ['user', 3],
  );
  await send('DELETE', `${custom}/ranger`);
  assert.deepEqual(
    [directory.find('ranger')!.source, directory.find('ranger')!.max_turns],
    ['disk', 5],
  );
});

test('a persona that serves everyone is replaced by a holder of persona:replace; other users make their own', async (t) => {
  const grants = { rita: ['*'], uwe: ['agent:*'], lena: ['agent:*', 'persona:replace'] } as const;
  const { house, folder, directory } = await stand(t, {
    watch: true,
    services: {
      [Authenticator.id]: {
        authenticate: ({ value }: { value: keyof typeof grants }) => ({
          kind: 'user',
          id: value,
          role: 'user',
          grants: grants[value],
        }),
      },
    },
  });
  writeFileSync(join(folder, 'ranger.md'), file('ranger'));
  await until(() => directory.find('ranger') !== undefined);
  const as = async (who: string, method: string, path: string, body?: object) => {
    const response = await house.fetch(path, {
      method,
      headers: { authorization: `Bearer ${who}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      message: text === '' ? '' : (JSON.parse(text).message as string),
    };
  };
  const taken = await as('uwe', 'POST', custom, { ...scout, name: 'ranger' });
  assert.equal(taken.status, 403);
  assert.match(
    taken.message,
    /"ranger" comes from a file and is used by everyone: .* requires persona:replace; choose another name/,
  );
  assert.equal(directory.find('ranger')!.source, 'disk');
  assert.equal((await as('uwe', 'POST', custom, scout)).status, 201);

  assert.equal((await as('lena', 'POST', custom, { ...scout, name: 'ranger' })).status, 201);
  assert.equal(directory.find('ranger')!.source, 'user');
  assert.equal((await as('uwe', 'PATCH', `${custom}/ranger`, { body: 'You obey.' })).status, 403);
  assert.equal((await as('uwe', 'DELETE', `${custom}/ranger`)).status, 403);
  assert.equal((await as('uwe', 'DELETE', '/api/v1/agents/ranger')).status, 403);
  assert.equal((await as('rita', 'PATCH', `${custom}/ranger`, { max_turns: 4 })).status, 200);
  assert.equal((await as('rita', 'DELETE', '/api/v1/agents/ranger')).status, 204);
  assert.equal(directory.find('ranger')!.source, 'disk');
});

test('a name that is mistaken for another is refused of users, and in a file gets no question', async (t) => {
  const { folder, directory, send } = await stand(t, { watch: true });
  writeFileSync(join(folder, 'ranger-1.md'), file('ranger-1'));
  writeFileSync(join(folder, 'copy.md'), file('Ranger_I'));
  writeFileSync(join(folder, 'twin.md'), file('ranger-1', '', 'Me, too.\n'));
  await until(() => (directory.find('Ranger_I')?.unmet.length ?? 0) > 0);
  assert.deepEqual(directory.find('ranger-1')!.unmet, []);
  const why = /could be mistaken for that of the persona ranger-1/;
  assert.match(directory.find('Ranger_I')!.unmet.join(), why);
  for (const name of ['RANGER-1', 'ranger.l', 'rangeR-i']) {
    const { status, body } = await send('POST', custom, { ...scout, name });
    assert.equal(status, 409, name);
    assert.match(body.message, /could be mistaken for that of the persona "ranger-1"/);
  }
  assert.equal((await send('POST', custom, { ...scout, name: 'ranger-2' })).status, 201);
  const problem = async () => (await send('GET', '/api/v1/agents/ranger-1')).body['problem'];
  await until(async () => (await problem()) !== '');
  assert.equal(
    await problem(),
    `a file is not used: ${join(folder, 'twin.md')}: the name "ranger-1" is already used by ${join(folder, 'ranger-1.md')}; rename one of them`,
  );
});

test('own personas and versions are there after a restart', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-personas-data-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const before = await stand(t, { dataDir });
  await before.send('POST', custom, scout);
  await before.send('PATCH', `${custom}/scout`, { max_turns: 3 });
  assert.equal(before.directory.find('scout')!.version, 2);
  await before.house.stop();
  const { directory } = await stand(t, { dataDir });
  assert.deepEqual([directory.find('scout')!.max_turns, directory.find('scout')!.version], [3, 2]);
});

test('conditions that do not hold are shown, and such a persona gets no questions', async (t) => {
  const { directory, send } = await stand(t, { plugins: ['programs'] });
  const metadata = {
    os: ['plan9'],
    requires: {
      bins: ['node', 'no-such-program'],
      config: ['agents.default_persona', 'agents.external_dirs', 'no.such'],
    },
  };
  await send('POST', custom, { ...scout, metadata });
  const { body } = await send('GET', '/api/v1/agents/scout');
  const unmet = body['unmet'] as readonly string[];
  assert.deepEqual(
    unmet.map((sentence) => sentence.split(/[,;]/)[0]),
    [
      'works on plan9',
      'needs the program no-such-program on the machine of svc',
      'needs the setting no.such',
    ],
  );
  await send('POST', custom, { ...scout, name: 'coordinator', when_to_use: 'Everything else.' });
  assert.equal(
    (await directory.route('which forests and rivers?', principal)).persona.name,
    'coordinator',
  );
  await send('PATCH', `${custom}/scout`, { metadata: {} });
  const route = await directory.route('which forests and rivers?', principal);
  assert.deepEqual(
    [route.persona.name, route.clear, route.why],
    ['scout', true, 'scout matches best, by: rivers, forests'],
  );
});

test('a persona that waits to be asked by name gets no questions', async (t) => {
  const { send } = await stand(t);
  await send('POST', custom, { ...scout, name: 'coordinator', when_to_use: 'Everything else.' });
  await send('POST', custom, { ...scout, metadata: { routing: 'by-name' } });
  const asked = async () =>
    (await send('POST', '/api/v1/agents/route', { question: 'which forests and rivers?' })).body;
  assert.equal((await asked())['persona'], 'coordinator');
  await send('PATCH', `${custom}/scout`, { metadata: {} });
  assert.equal((await asked())['persona'], 'scout');
});

test('names of tools that nothing brings are shown, with what may be meant, and hold nothing back', async (t) => {
  const tools = new Map(
    ['metrics_query', 'knowledge_read'].map((alias) => [
      alias,
      { key: alias === 'knowledge_read' ? 'knowledge.read' : alias },
    ]),
  );
  const { send, directory } = await stand(t, {
    services: { 'skill.registry': { aliases: () => tools } },
  });
  await send('POST', custom, {
    ...scout,
    tools: ['metrics_qurey', 'mcp:far:dig', 'metrics_query'],
    disallowed_tools: ['knowledge_read'],
  });
  const { body } = await send('GET', '/api/v1/agents/scout');
  assert.deepEqual(
    [body['unknown_tools'], body['problem']],
    [['metrics_qurey (perhaps metrics_query is meant)', 'mcp:far:dig'], ''],
  );
  assert.equal(
    (await directory.route('which forests and rivers?', principal)).persona.name,
    'scout',
  );
  await send('POST', custom, { ...scout, name: 'whole' });
  const troubled = async () =>
    ((await send('GET', '/api/v1/agents?troubled=true')).body['items'] as { name: string }[]).map(
      ({ name }) => name,
    );
  assert.deepEqual(await troubled(), ['scout']);
  // What was away and comes is no stranger.
  tools.set('mcp_far_dig', { key: 'mcp:far:dig' });
  tools.set('metrics_qurey', { key: 'metrics_qurey' });
  assert.deepEqual(await troubled(), []);
});

test('a question goes to who claims its words, else to the default, and says why', async (t) => {
  const { send, directory } = await stand(t);
  assert.equal((await send('POST', '/api/v1/agents/route', { question: 'hello' })).status, 404);
  await send('POST', custom, { ...scout, name: 'coordinator', when_to_use: 'Everything else.' });
  await send('POST', custom, scout);
  await send('POST', custom, { ...scout, name: 'ranger' });
  const { body } = await send('POST', '/api/v1/agents/route', { question: 'what about paths?' });
  assert.deepEqual([body['persona'], body['clear']], ['coordinator', false]);
  assert.match(String(body['why']), /^ranger, scout match about equally well/);
  assert.match((await directory.route('zzz', principal)).why, /no persona shares a word/);
});

test('what a question names is looked up as its asker may see it, and what cannot be looked up hinders nothing', async (t) => {
  const asked: (readonly string[] | undefined)[] = [];
  let fails = false;
  const { send, directory } = await stand(t, {
    services: {
      'topology.graph': {
        neighbourhood: async ({ names }: { names: readonly string[] }) => {
          asked.push(names);
          if (fails) {
            throw new Error('the table is locked');
          }
          return {
            nodes: [{ id: 1, type: 'database', name: 'orders', device_id: null, distance: 0 }],
            relations: [],
            complete: true,
          };
        },
      },
    },
  });
  await send('POST', custom, { ...scout, name: 'coordinator', when_to_use: 'Everything else.' });
  await send('POST', custom, { ...scout, name: 'keeper', when_to_use: 'Databases.' });
  const route = async () => (await directory.route('odd: Orders.', principal)).persona.name;
  assert.equal(await route(), 'keeper');
  assert.deepEqual(asked[0], ['odd', 'Orders', 'orders']);
  fails = true;
  assert.equal(await route(), 'coordinator');
});

test('the first prompt is filled from the spawn context', async (t) => {
  const { directory } = await stand(t);
  const prompt = (initial_prompt: string, context: object): string =>
    directory.initialPrompt(
      { initial_prompt } as Parameters<PersonaDirectory['initialPrompt']>[0],
      { ...context },
      principal,
    );
  assert.equal(
    prompt('{{if .incident_id}}Incident {{.incident_id}} for {{.user}}. {{end}}', {
      incident_id: 12_000_000,
    }),
    'Incident 12000000 for Kim. ',
  );
  assert.equal(prompt('{{if .incident_id}}x{{end}}{{.device_id}}', {}), '');
  // What is filled in is never read as a template.
  assert.equal(prompt('{{.device_id}}', { device_id: '{{.user}}' }), '{{.user}}');
});

test('every shipped persona is whole: its tools exist, its prompt can be filled, it says how it works', async (t) => {
  const { house, directory, folder } = await stand(t, {
    watch: true,
    plugins: ['gate', 'skill'],
    services: { 'iam.directory': { live: () => undefined } },
  });
  cpSync(join(projectRoot, 'agents'), folder, { recursive: true });
  await until(() => directory.list().length >= 12);
  // Of rooms that this house is without; test/plugins/skill/room-skills.test.ts calls them.
  const files = readdirSync(join(projectRoot, 'plugins'), {
    recursive: true,
    encoding: 'utf8',
  }).filter((path) => path.endsWith('.ts'));
  const elsewhere = files.flatMap((path) =>
    [...readFileSync(join(projectRoot, 'plugins', path), 'utf8').matchAll(/\bkey: '([^']+)'/g)].map(
      ([, key]) => key!,
    ),
  );
  const known = new Set([
    askKey,
    ...elsewhere,
    ...(await house.json('/api/v1/skills')).items.map(({ key }: { key: string }) => key),
  ]);
  for (const persona of directory.list()) {
    const named = [...persona.tools, ...persona.disallowed_tools];
    assert.deepEqual(
      named.filter((key) => !known.has(key)),
      [],
      persona.name,
    );
    const prompt = directory.initialPrompt(persona, { incident_id: 4, device_id: 9 }, principal);
    assert.equal(prompt.includes('{{'), false);
    assert.deepEqual([persona.unmet, Object.keys(persona.unknown)], [[], []], persona.name);
    assert.equal(
      persona.tools.length > 0,
      persona.name !== 'coordinator',
      `${persona.name}: the coordinator takes what packs and servers bring, the others name theirs`,
    );
    assert.ok(
      persona.max_turns > 0 && persona.critical_reminder !== '' && persona.body.length > 1_000,
      persona.name,
    );
  }
});
