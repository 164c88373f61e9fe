import assert from 'node:assert/strict';
import { test } from 'node:test';

import { textOf } from '../../plugins/model/cli/fake-model/chat-request.ts';
import { zipOf } from '../plugins/knowledge/files.ts';
import { areas, rowsOf } from './area.ts';
import type { Answer } from './household.ts';
import { knock } from './knock.ts';
import { roomsStand, type Stand } from './rooms-stand.ts';
import { beside } from '../kit/beside.ts';
import { type Customer, type TwoCustomers } from './two-customers.ts';

/** Areas whose routes are asked here; those of the others in `narrowed-data.test.ts`. */
const rooms = ['webshell', 'chat', 'skill', 'mcp', 'mention', 'knowledge', 'model', 'schedules'];

/** Asks, and keeps which routes were asked. */
function asker({ house }: TwoCustomers) {
  const asked = new Set<string>();
  const fill = (path: string, values: Readonly<Record<string, string | number>>): string =>
    path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(String(values[name] ?? 'none')),
    );
  return {
    asked,
    async as(
      customer: Customer,
      route: string,
      {
        path = {},
        query = '',
        body,
      }: { path?: Record<string, string | number>; query?: string; body?: object } = {},
    ) {
      asked.add(route);
      const [method = '', template = ''] = route.split(' ');
      const at = fill(template, path) + query;
      if (template.endsWith('/shell')) {
        return await knock(house.url + at, `Bearer ${customer.member.access}`, ['svc.shell.v1']);
      }
      return await customer.ask(method, at, body);
    },
  };
}

const q = (text: string): string => encodeURIComponent(text);

test('shells, agents, tools and documents are narrowed to the devices of an organization', async (t) => {
  const all = await roomsStand(t);
  await t.test('on every route that takes an id or a question', () => everyRoute(all));
  await t.test('for a model that asks its tools about the devices of another customer', () =>
    nosyModel(all),
  );
  await t.test('a run ends once its person sees other devices', () => leftRun(all));
});

async function everyRoute(all: Stand): Promise<void> {
  const { asked, as } = asker(all);
  const wrong: string[] = [];
  /** `own`: the answer names the asker's own things. */
  const told = async (
    own: Customer,
    other: Customer,
    route: string,
    sent: Parameters<typeof as>[2] = {},
    mark: 'own' | 'any' = 'any',
  ): Promise<Answer> => {
    const answer = await as(own, route, sent);
    const question = [
      sent.query ?? '',
      JSON.stringify(sent.body ?? {}),
      ...Object.values(sent.path ?? {}).map(String),
    ];
    const text = question.reduce(
      (left, part) =>
        part.length > 2 ? left.replaceAll(part, '').replaceAll(decodeURIComponent(part), '') : left,
      answer.text,
    );
    // It may say again which document or word was asked for.
    const rest =
      answer.status === 404 ||
      route.endsWith('/execute') ||
      route.endsWith('translate') ||
      route.endsWith('/mcp')
        ? text.replaceAll(/\b(shelf|notes)\/\w+\.md/g, '')
        : text;
    if (rest.includes(other.name) || rest.includes(`"device_id":${other.device},`)) {
      wrong.push(
        `${own.name} is told of ${other.name} by ${route} ${JSON.stringify(sent)}: ${answer.text.slice(0, 400)}`,
      );
    }
    if (mark === 'own' && (answer.status !== 200 || !answer.text.includes(own.name))) {
      wrong.push(
        `${own.name} is not told of themselves by ${route} ${JSON.stringify(sent)}: ${answer.status} ${answer.text.slice(0, 300)}`,
      );
    }
    return answer;
  };
  /** Asserts that what is out of scope is answered like what never existed. */
  const absent = async (
    own: Customer,
    route: string,
    theirs: Parameters<typeof as>[2],
    nobodys: Parameters<typeof as>[2],
  ): Promise<void> => {
    const words = ({ status, body, text }: Answer): string =>
      `${status} ${String(body?.message ?? text).replaceAll(/[\w-]*\d[\w-]*|shelf\/\w+\.md|folder \w+/g, '#')}`;
    const [one, two] = [words(await as(own, route, theirs)), words(await as(own, route, nobodys))];
    if (one !== two || one.startsWith('2')) {
      wrong.push(`${own.name}, ${route}: ${one} where ${two} is said of an id that no row has`);
    }
  };
  for (const [own, other] of [
    [all.acme, all.bravo],
    [all.bravo, all.acme],
  ] as const) {
    const [mine, theirs] = [all.things[own.name], all.things[other.name]];

    await told(own, other, 'GET /api/v1/webshell/sessions', { query: '?state=all' }, 'own');
    const foreign = await told(own, other, 'GET /api/v1/webshell/sessions', {
      query: `?state=all&device_id=${other.device}`,
    });
    assert.deepEqual([foreign.body.total, foreign.body.items], [0, []]);
    assert.equal(
      (await told(own, other, 'GET /api/v1/webshell/sessions', { query: `?state=all&limit=1` }))
        .body.total,
      1,
    );
    await told(own, other, 'GET /api/v1/webshell/recordings', {}, 'own');
    await told(own, other, 'GET /api/v1/webshell/recordings', {
      query: `?user_id=${other.member.id}`,
    });
    await told(own, other, 'GET /api/v1/webshell/host-keys', {}, 'own');
    await absent(
      own,
      'GET /api/v1/webshell/recordings/{id}',
      { path: { id: theirs.shell } },
      { path: { id: 999_999 } },
    );
    await absent(
      own,
      'DELETE /api/v1/webshell/sessions/{id}',
      { path: { id: theirs.shell } },
      { path: { id: 999_999 } },
    );
    await absent(
      own,
      'POST /api/v1/webshell/tickets',
      { body: { device_id: other.device } },
      { body: { device_id: 999_999 } },
    );
    await absent(
      own,
      'GET /api/v1/devices/{device_id}/shell',
      { path: { device_id: other.device } },
      { path: { device_id: 999_999 } },
    );

    for (const query of [
      '',
      `?q=${other.name}`,
      `?q=${other.name}&type=device`,
      `?q=${other.edge}&type=edge`,
    ]) {
      await told(own, other, 'GET /api/v1/aiops/mentions/search', { query });
    }
    await told(own, other, 'GET /api/v1/aiops/mentions/search', {
      query: `?q=${own.name}&type=edge`,
    });

    const execute = 'POST /api/v1/skills/{key}/execute';
    const tool = (key: string, params: object, mark: 'own' | 'any' = 'any') =>
      told(own, other, execute, { path: { key }, body: { params } }, mark);
    await tool('devices_list', {}, 'own');
    await tool('devices_list', { tag: `customer=${other.name}` });
    await tool('metrics_query', { query: 'up' }, 'own');
    await tool('metrics_query', { query: `{device_id="${other.device}"}` });
    await tool('metrics_range', { query: 'up', last: '10m', step: '1m' }, 'own');
    await tool('metrics_find', { text: own.name }, 'own');
    await tool('metrics_outliers', { query: 'up' });
    await tool('logs_query', { query: '{app=~".+"}' }, 'own');
    await tool('logs_templates', { query: '{app=~".+"}' }, 'own');
    await tool('traces_search', { query: '{ }' }, 'own');
    await tool('trace_tags', {});
    await tool('trace_tag_values', { tag: 'resource.service.name' });
    await tool('metrics_exemplars', { query: '{__name__=~".+"}' });
    await tool('knowledge.search', { query: 'report' });
    await tool('tool_search', { query: `devices of ${other.name}` });
    await tool('guide_read', { key: 'triage-a-host' });
    await absent(
      own,
      execute,
      { path: { key: 'device_get' }, body: { params: { device_id: other.device } } },
      { path: { key: 'device_get' }, body: { params: { device_id: 999_999 } } },
    );
    const readShelf = (name: string) => ({
      path: { key: 'knowledge.read' },
      body: { params: { document: `shelf/${name}.md` } },
    });
    await absent(own, execute, readShelf(other.name), readShelf('none'));
    const stepsOf = (name: string) => ({
      path: { key: 'knowledge.runbook' },
      body: { params: { document: `shelf/${name}.md` } },
    });
    await absent(own, execute, stepsOf(other.name), stepsOf('none'));
    await absent(
      own,
      execute,
      { path: { key: 'evidence_read' }, body: { params: { id: 'E1' } } },
      { path: { key: 'evidence_read' }, body: { params: { id: 'E999' } } },
    );

    const rpc = (method: string, params: object) => ({
      body: { jsonrpc: '2.0', id: 1, method, params },
    });
    const list = await told(own, other, 'POST /mcp', rpc('tools/list', {}));
    const offered = (list.body.result.tools as { name: string }[]).map(({ name }) => name);
    assert.ok(
      offered.includes('devices_list') && !offered.includes('changes_list'),
      offered.join(),
    );
    await told(
      own,
      other,
      'POST /mcp',
      rpc('tools/call', { name: 'devices_list', arguments: {} }),
      'own',
    );
    await told(
      own,
      other,
      'POST /mcp',
      rpc('tools/call', { name: 'logs_query', arguments: { query: '{app=~".+"}' } }),
      'own',
    );
    await told(
      own,
      other,
      'POST /mcp',
      rpc('tools/call', { name: 'device_get', arguments: { device_id: other.device } }),
    );
    await told(own, other, 'POST /mcp', rpc('tools/call', { name: 'changes_list', arguments: {} }));

    const translated = await told(own, other, 'POST /api/v1/aiops/query-translate', {
      body: { dialect: 'promql', prompt: 'metric of the customer' },
    });
    assert.equal(translated.status, 200, translated.text);
    const names = textOf(all.fake.requests.at(-1)!.body.messages.at(-1)!);
    assert.ok(names.includes(`${own.name}_metric`) && !names.includes(other.name), names);

    const docs = '/api/v1/knowledge/docs';
    await told(own, other, `GET ${docs}`, { query: '?limit=200' }, 'own');
    const shelved = await told(own, other, `GET ${docs}`, { query: '?path_prefix=shelf' });
    assert.deepEqual([shelved.body.total, shelved.body.items], [0, []]);
    await told(own, other, 'GET /api/v1/knowledge/paths', { query: '?limit=200' });
    await told(
      own,
      other,
      'GET /api/v1/knowledge/search',
      { query: `?q=${q(`note ${own.name}`)}` },
      'own',
    );
    await told(own, other, 'GET /api/v1/knowledge/search', {
      query: `?q=${q('report disk full')}`,
    });
    await told(own, other, 'GET /api/v1/knowledge/gaps');
    await told(own, other, 'GET /api/v1/knowledge/review');
    await absent(
      own,
      'DELETE /api/v1/knowledge/gaps/{id}',
      { path: { id: 1 } },
      { path: { id: 999_999 } },
    );
    for (const doc of [theirs.report, theirs.note, mine.report]) {
      const at = { path: { id: doc, version: 1 } };
      const nobodys = { path: { id: 999_999, version: 1 } };
      await absent(own, `GET ${docs}/{id}`, at, nobodys);
      await absent(own, `GET ${docs}/{id}/versions`, at, nobodys);
      await absent(own, `GET ${docs}/{id}/versions/{version}`, at, nobodys);
      await absent(
        own,
        `PATCH ${docs}/{id}`,
        { ...at, body: { title: 'Mine' } },
        { ...nobodys, body: { title: 'Mine' } },
      );
      await absent(
        own,
        `PATCH ${docs}/{id}/move`,
        { ...at, body: { path: 'x.md' } },
        { ...nobodys, body: { path: 'x.md' } },
      );
      await absent(own, `GET ${docs}/{id}/care`, at, nobodys);
      await absent(
        own,
        `PATCH ${docs}/{id}/care`,
        { ...at, body: { owner: 'Mine' } },
        { ...nobodys, body: { owner: 'Mine' } },
      );
      await absent(
        own,
        `PUT ${docs}/{id}/vote`,
        { ...at, body: { helpful: true } },
        { ...nobodys, body: { helpful: true } },
      );
      await absent(own, `DELETE ${docs}/{id}`, at, nobodys);
      for (const route of ['GET /api/v1/knowledge/document', 'GET /api/v1/knowledge/runbook']) {
        await absent(own, route, { query: `?doc=${doc}` }, { query: '?doc=999999' });
      }
    }
    await absent(
      own,
      'POST /api/v1/knowledge/paths/move',
      { body: { from: 'shelf', to: 'mine' } },
      { body: { from: 'nothing', to: 'mine' } },
    ).catch(() => undefined);
    const houseWide = await as(own, `POST ${docs}`, {
      body: { path: 'notes/all.md', content: '# All' },
    });
    assert.deepEqual(
      [houseWide.status, /add the document to one of your organizations/.test(houseWide.text)],
      [403, true],
    );
    const { body: shared } = await all.ask('POST', docs, all.house.token, {
      path: `shared/${own.device}.md`,
      content: '# Of the house',
    });
    assert.equal((await as(own, `GET ${docs}/{id}`, { path: { id: shared.id } })).status, 200);
    assert.equal(
      (await as(own, `PATCH ${docs}/{id}`, { path: { id: shared.id }, body: { title: 'Mine' } }))
        .status,
      403,
    );
    const form = new FormData();
    form.set('file', new Blob([`# Upload of ${own.name}`]), 'all.md');
    const upload = await fetch(`${all.house.url}/api/v1/knowledge/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.member.access}` },
      body: form,
    });
    asked.add('POST /api/v1/knowledge/upload');
    assert.equal(upload.status, 403, 'an upload that everybody would read');
    const archive = new FormData();
    archive.set(
      'file',
      new Blob([zipOf([{ name: 'Page.md', content: `# Page of ${own.name}` }])]),
      'export.zip',
    );
    const imported = await fetch(`${all.house.url}/api/v1/knowledge/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own.member.access}` },
      body: archive,
    });
    asked.add('POST /api/v1/knowledge/import');
    assert.equal(imported.status, 403, 'an import that everybody would read');

    const sessions = '/api/v1/chat/sessions';
    await told(own, other, `GET ${sessions}`, {}, 'own');
    await told(own, other, `GET ${sessions}`, { query: `?q=${other.name}` });
    for (const [route, more] of [
      [`PATCH ${sessions}/{id}`, { body: { title: 'Mine' } }],
      [`DELETE ${sessions}/{id}`, {}],
      [`GET ${sessions}/{id}/messages`, {}],
      [`POST ${sessions}/{id}/messages`, { body: { content: 'Hello?' } }],
      [`POST ${sessions}/{id}/messages/stream`, { body: { content: 'Hello?' } }],
      [`GET ${sessions}/{id}/messages/stream`, {}],
      [`GET ${sessions}/{id}/runs`, {}],
      [`GET ${sessions}/{id}/runs/{run_id}`, {}],
      [`POST ${sessions}/{id}/runs/{run_id}/cancel`, {}],
      [`POST ${sessions}/{id}/save`, { body: { as: 'document', path: 'notes/a.md' } }],
      [`POST ${sessions}/{id}/share`, { body: {} }],
    ] as const) {
      await absent(
        own,
        route,
        { path: { id: theirs.session, run_id: theirs.run }, ...more },
        { path: { id: crypto.randomUUID(), run_id: theirs.run }, ...more },
      );
    }
    await told(own, other, `POST ${sessions}`, { body: { title: 'x' } });
    for (const method of ['GET', 'DELETE']) {
      await absent(
        own,
        `${method} /api/v1/chat/shared/{share_id}`,
        { path: { share_id: theirs.share } },
        { path: { share_id: 'nobodys' } },
      );
    }

    const schedules = '/api/v1/schedules';
    await told(own, other, `GET ${schedules}`, {}, 'own');
    const look = { name: 'Again', question: 'Why?', trigger: 'incident', deliver_to: 'document' };
    assert.equal((await as(own, `POST ${schedules}`, { body: look })).status, 403);
    for (const [route, more] of [
      [`GET ${schedules}/{id}`, {}],
      [`GET ${schedules}/{id}/runs`, {}],
      [`PATCH ${schedules}/{id}`, { body: { question: 'Why not?' } }],
      [`POST ${schedules}/{id}/run`, { body: {} }],
      [`POST ${schedules}/{id}/pause`, {}],
      [`POST ${schedules}/{id}/resume`, {}],
      [`DELETE ${schedules}/{id}`, {}],
    ] as const) {
      await absent(
        own,
        route,
        { path: { id: theirs.schedule }, ...more },
        { path: { id: 999_999 }, ...more },
      );
    }
  }
  assert.deepEqual(wrong, []);

  const every = (await areas()).all;
  const narrowed = rooms
    .flatMap((room) => rowsOf(room, every.get(room)!))
    .filter(({ stance }) => stance === 'narrowed');
  // Skills that edges offer are asked for in narrowed-edges.test.ts.
  assert.deepEqual(
    narrowed
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !asked.has(route) && !route.startsWith('GET /api/v1/skills')),
    [],
    'each narrowed route of these areas is asked here',
  );
}

async function nosyModel(all: Stand): Promise<void> {
  for (const [own, other] of [
    [all.acme, all.bravo],
    [all.bravo, all.acme],
  ] as const) {
    const { body: session } = await own.ask('POST', '/api/v1/chat/sessions', {});
    const content = `Tell me all of ${other.name} @device:${other.device} @edge:${other.edge} @device:${own.device}`;
    const before = all.fake.requests.length;
    const { status, body, text } = await own.ask(
      'POST',
      `/api/v1/chat/sessions/${session.id}/messages`,
      { content, agent: 'scout' },
    );
    assert.equal(status, 200, text);
    assert.ok(body.tool_calls.length >= 10, text);
    const prompts = all.fake.requests.slice(before).flatMap(({ body: { messages } }) => messages);
    const facts = textOf(
      prompts.find((message) => textOf(message).startsWith('Tell me all of'))!,
    ).split('\n\n')[1]!;
    assert.match(facts, new RegExp(`@device:${other.device} = unknown`));
    assert.match(facts, new RegExp(`@edge:${other.edge} = unknown`));
    assert.match(facts, new RegExp(`@device:${own.device} = .*${own.name}-host`));
    const results = prompts.filter(({ role }) => role === 'tool').map(textOf);
    assert.ok(
      results.length >= 10 && results.some((result) => result.includes(own.name)),
      'of their own they are told',
    );
    // What the model itself has asked may be said again.
    const echoed = new RegExp(
      `customer=${other.name}|shelf/${other.name}\\.md|"query":"[^"]*"`,
      'g',
    );
    assert.deepEqual(
      results.filter((result) => result.replaceAll(echoed, '').includes(other.name)),
      [],
    );
    const refused = body.tool_calls.find(({ name }: { name: string }) => name === 'changes_list');
    assert.match(
      JSON.stringify(refused ?? 'not offered'),
      /cannot be limited|not available|not offered/,
    );
  }
}

async function leftRun(all: Stand): Promise<void> {
  const { house, ask, acme, fake } = all;
  const { body: session } = await acme.ask('POST', '/api/v1/chat/sessions', {});
  // As one that was asked while they saw all devices, and that a killed process has left.
  const { body: said } = await acme.ask('POST', `/api/v1/chat/sessions/${session.id}/messages`, {
    content: 'Hello',
    agent: 'scout',
  });
  const id = crypto.randomUUID();
  await beside(all.house.dataDir, (db) => {
    const row = db.prepare('SELECT * FROM chat_runs WHERE id = ?').get(said.run_id) as Record<
      string,
      unknown
    >;
    const { selectors: _those, ...then } = JSON.parse(String(row['principal'])) as Record<
      string,
      unknown
    >;
    const ended = {
      state: 'running',
      finish_reason: null,
      ended_at: null,
      holder: null,
      held_until: 0,
    };
    const left = { ...row, id, principal: JSON.stringify(then), ...ended };
    const names = Object.keys(left);
    db.prepare(
      `INSERT INTO chat_runs (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`,
    ).run(left);
    db.prepare(
      `INSERT INTO chat_journal SELECT ?, seq, at, entry FROM chat_journal WHERE run_id = ? AND seq = 1`,
    ).run(id, said.run_id);
  });
  const before = fake.requests.length;
  await house.reload('chat');
  const url = `/api/v1/chat/sessions/${session.id}/runs/${id}`;
  for (let waited = 0; ; waited += 20) {
    const { status, body, text } = await ask('GET', url, acme.member.access);
    if (body.finish_reason !== 'background') {
      assert.deepEqual(
        [status, body.message],
        [502, 'The set of devices that you can see has changed since you asked; ask again.'],
      );
      break;
    }
    assert.ok(waited < 20_000, text);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(fake.requests.length, before, 'no model is asked');
}
