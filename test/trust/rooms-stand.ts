import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import { KnowledgeShelf } from 'svc/contracts/knowledge';

import { type ChatRequest, textOf } from '../../plugins/model/cli/fake-model/chat-request.ts';
import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import type { Rule } from '../../plugins/model/cli/fake-model/script.ts';
import { beside } from '../kit/beside.ts';
import { type Customer, twoCustomers, type TwoCustomers } from './two-customers.ts';

/** Things of one customer in these areas, besides its devices. */
export interface Things {
  readonly shell: number;
  readonly report: number;
  readonly note: number;
  readonly session: string;
  readonly run: string;
  readonly schedule: number;
  readonly share: string;
}

export interface Stand extends TwoCustomers {
  readonly fake: FakeModel;
  readonly things: Readonly<Record<Customer['name'], Things>>;
}

/**
 * Returns a model that calls tools about the devices of the customer whom the message names, in
 * every way it is offered, and then repeats the results.
 */
const nosy = (all: () => TwoCustomers): Rule => ({
  when: { last: 'Tell me all of ' },
  reply: (request: ChatRequest) => {
    const other = /Tell me all of (\w+)/.exec(
      textOf(request.messages.at(-1)!),
    )![1] as Customer['name'];
    const { device, edge, trace } = all()[other];
    const calls: readonly (readonly [string, object])[] = [
      ['devices_list', { q: other }],
      ['devices_list', { tag: `customer=${other}` }],
      ['device_get', { device_id: device }],
      ['metrics_query', { query: `up{device_id="${device}"}` }],
      ['metrics_find', { text: other }],
      ['logs_query', { query: `{app=~".+"} |= "${other}"` }],
      ['logs_templates', { query: '{app=~".+"}' }],
      ['traces_search', { query: '{ }' }],
      ['trace_get', { trace_id: trace }],
      ['knowledge_search', { query: `${other} report` }],
      ['knowledge_read', { document: `shelf/${other}.md` }],
      ['tool_search', { query: `what ${edge} does` }],
      ['changes_list', {}],
    ];
    return { tool_calls: calls.map(([name, args]) => ({ name, arguments: args })) };
  },
});

export async function roomsStand(t: TestContext): Promise<Stand> {
  const known: { all?: TwoCustomers } = {};
  const fake = await FakeModel.start({
    rules: [nosy(() => known.all!), { reply: { text: 'That is what I was told.' } }],
  });
  t.after(() => fake.close());
  const all = await twoCustomers(t, {
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    },
  });
  known.all = all;
  const persona = {
    name: 'scout',
    description: 'Looks.',
    when_to_use: 'Always.',
    body: 'You look.',
  };
  const made = await all.ask('POST', '/api/v1/agents/custom', all.house.token, persona);
  assert.equal(made.status, 201, made.text);
  const things = { acme: await thingsOf(all, all.acme), bravo: await thingsOf(all, all.bravo) };
  return Object.assign(all, { fake, things });
}

async function thingsOf(
  all: TwoCustomers,
  { name, device, edge, orgId, member, ask }: Customer,
): Promise<Things> {
  const { house, at } = all;
  const fingerprint = `SHA256:${name.padEnd(43, 'x')}`;
  const shell = await beside(all.house.dataDir, (db) => {
    db.prepare(
      `INSERT INTO webshell_host_keys (device_id, algorithm, fingerprint, trusted_at, trusted_by) VALUES (?, 'ssh-ed25519', ?, ?, 'first_use')`,
    ).run(device, fingerprint, at);
    const sessions = db.prepare(
      `INSERT INTO webshell_sessions (life, user_kind, user_id, device_id, edge_id, remote_user, auth, fingerprint, ip, started_at, ended_at, ended_by,
         recording_state, recording_key, recording_bytes)
       VALUES ('then', 'user', ?, ?, ?, ?, 'password', 'SHA256:x', '10.0.0.1', ?, ?, 'exit', 'complete', 'sealed', 10)`,
    );
    return Number(
      sessions.run(member.id, device, edge, `root-${name}`, at - 1_000, at).lastInsertRowid,
    );
  });
  const content = `# Report of ${name}\n\nThe disk of ${name}-host was full.`;
  await house
    .service(KnowledgeShelf)
    .put('shelf', [
      { name: `${name}.md`, title: `Report of ${name}`, tags: ['report'], content, mark: '1' },
    ]);
  const { body: docs } = await house
    .json<{ items: { id: number }[] }>(`/api/v1/knowledge/docs?path=shelf/${name}.md`)
    .then((body) => ({ body }));
  const note = await ask('POST', '/api/v1/knowledge/docs', {
    path: `notes/${name}.md`,
    content: `# Note of ${name}`,
    org_id: orgId,
  });
  assert.equal(note.status, 201, note.text);
  const session = (await ask('POST', '/api/v1/chat/sessions', { title: `Session of ${name}` })).body
    .id as string;
  const said = await ask('POST', `/api/v1/chat/sessions/${session}/messages`, {
    content: `Hello of ${name}`,
    agent: 'scout',
  });
  assert.equal(said.status, 200, said.text);
  const schedule = await ask('POST', '/api/v1/schedules', {
    name: `Look of ${name}`,
    question: 'Why?',
    trigger: 'incident',
    deliver_to: 'timeline',
  });
  assert.equal(schedule.status, 201, schedule.text);
  const share = await ask('POST', `/api/v1/chat/sessions/${session}/share`, {});
  assert.equal(share.status, 201, share.text);
  return {
    share: share.body.share_id,
    shell,
    report: docs.items[0]!.id,
    note: note.body.id,
    session,
    run: said.body.run_id,
    schedule: schedule.body.id,
  };
}
