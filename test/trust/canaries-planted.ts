import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { AlertEvaluator } from 'svc/contracts/alert';
import { Approvals } from 'svc/contracts/approval';
import { DeviceDirectory } from 'svc/contracts/device';
import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { SkillRunner } from 'svc/contracts/skill';
import { TraceIngest } from 'svc/contracts/traces';

import { beside } from '../kit/beside.ts';
import type { Answer, Household } from './household.ts';

/** Text that only content of this area holds, or one thing of it. */
export const canaryOf = (area: string, thing?: string): string =>
  `canary-of-${area}-7${thing === undefined ? '' : `-${thing}`}`;

/** Things of an area that are kept apart from its others, each with a canary of its own. */
export const thingsOf: Readonly<Record<string, readonly string[]>> = {
  alert: ['silence', 'recording', 'note'],
  device: ['name'],
  edge: ['enrolment'],
  heartbeats: ['ping'],
  iam: ['role', 'org'],
  imbridge: ['app', 'link'],
  investigate: ['feedback'],
  knowledge: ['identity', 'version', 'owner', 'repository', 'gap'],
  marketplace: ['registry', 'history'],
  monitor: ['dashboard'],
  notify: ['delivery'],
  persona: ['body'],
  setting: ['address'],
  topology: ['node-type', 'relation-type', 'relation'],
  webshell: ['host-key'],
};

type Must = (method: string, path: string, body?: unknown) => Promise<Answer['body']>;

/** Things in every area that keeps something, with a canary of the area in each, by collection. */
export async function plantCanaries(
  people: Household,
): Promise<Readonly<Record<string, string | number>>> {
  const { house, ask } = people;
  const must: Must = async (method, path, body) => {
    const answer = await ask(method, path, house.token, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const edges: number = (
    await must('POST', '/api/v1/edges', { name: 'first', description: canaryOf('edge') })
  ).id;
  const { device_id: devices } = await house.service(DeviceDirectory).bind({
    edge_id: edges,
    machine_uuid: '00000000-0000-4000-8000-000000000001',
    host_info: { hostname: 'first-host', ip_address: '10.0.0.1' },
  });
  await beside(house.dataDir, (db) =>
    db.prepare('UPDATE edge_edges SET device_id = ? WHERE id = ?').run(devices, edges),
  );
  await must('PATCH', `/api/v1/devices/${devices}`, {
    display_name: canaryOf('device', 'name'),
    tags: { note: canaryOf('device') },
  });
  const { id: enrolments } = await must('POST', '/api/v1/edges/enrolments', {
    name: canaryOf('edge', 'enrolment'),
  });
  await pushed(people, String(devices));
  const alerts = await alertsOf(people, must);
  const knowledge = await knowledgeOf(people, must);
  const topology = await topologyOf(must);
  const panel = await must('POST', '/api/v1/monitor/panels', {
    dashboard_uid: 'first',
    title: canaryOf('monitor'),
    type: 'timeseries',
    query: 'canary_metric',
  });
  const channel = await must('POST', '/api/v1/notification-channels', {
    name: canaryOf('notify'),
    channel_type: 'webhook',
    endpoint: 'https://example.org/hook',
  });
  const source = await must('POST', '/api/v1/alert-sources', {
    key: canaryOf('alert-sources'),
  });
  await must('PUT', '/api/v1/monitor/dashboards/second', {
    title: canaryOf('monitor', 'dashboard'),
    panels: [{ title: 'One', type: 'timeseries', query: 'canary_metric' }],
  });
  await must('POST', '/api/v1/changes', { summary: canaryOf('changes') });
  await must('POST', '/api/v1/agents/custom', {
    name: 'scout',
    description: canaryOf('persona'),
    when_to_use: 'Always.',
    body: `You look at ${canaryOf('persona', 'body')}.`,
  });
  await must('PUT', '/api/v1/system-settings/agent/protected_labels', {
    value: [`env=${canaryOf('setting')}`],
  });
  await must('PUT', '/api/v1/system-settings/llm/ollama_base_url', {
    value: `http://${canaryOf('setting', 'address')}.example.org`,
  });
  await must('PUT', '/api/v1/system-settings/mcp/servers', {
    value: [{ name: canaryOf('mcp'), url: 'https://127.0.0.1:1/mcp', enabled: false }],
  });
  await must('POST', '/api/v1/roles', {
    name: 'watcher',
    description: canaryOf('iam', 'role'),
    grants: [],
  });
  const orgs: number = (
    await must('POST', '/api/v1/orgs', { name: 'First', description: canaryOf('iam', 'org') })
  ).id;
  const guide = join(house.dataDir, 'guides/canary-guide');
  mkdirSync(guide, { recursive: true });
  writeFileSync(
    join(guide, 'SKILL.md'),
    `---\nname: canary-guide\ndescription: Finds the canary.\n---\n\n${canaryOf('skill')}\n`,
  );
  await guideServes(house);
  await must('POST', '/api/v1/checks', {
    name: 'first-check',
    target: `https://${canaryOf('checks')}.example.org/health`,
  });
  await must('POST', '/api/v1/objectives', {
    name: canaryOf('objectives'),
    check: 'first-check',
    target: 99.9,
  });
  await must('POST', '/api/v1/heartbeats', {
    name: canaryOf('heartbeats'),
    cron: '15 2 * * *',
  });
  const { url } = await must('GET', `/api/v1/heartbeats/${canaryOf('heartbeats')}/address`);
  const ping = await fetch(new URL(new URL(url).pathname, house.url), {
    method: 'POST',
    body: canaryOf('heartbeats', 'ping'),
  });
  assert.equal(ping.status, 200);
  const app = await must('POST', '/api/v1/im/apps', {
    provider: 'slack',
    name: canaryOf('imbridge', 'app'),
    app_id: 'A0FIRST',
    app_secret: 'xoxb-1-2-first-secret',
    encrypt_key: 'first-key',
  });
  // A store is connected once it has answered; what is read of it is what is written down here.
  await beside(house.dataDir, (db) =>
    db
      .prepare(
        "INSERT INTO connected_stores_servers (name, url, host_rules, copied, created_at, updated_at) VALUES ('first-store', ?, '[]', '[]', 0, 0)",
      )
      .run(`https://${canaryOf('connected-stores')}.example.org`),
  );
  // What comes about by work of hours, or by others than svc, is written down as that work writes it.
  await beside(house.dataDir, (db) => {
    const now = Date.now();
    db.prepare(
      `INSERT INTO notify_deliveries (id, channel_id, channel_name, incident_id, fire_seq, kind, severity, state, due_at, error, accepted_at, finished_at)
         VALUES ('first-delivery', ?, 'first', 1, 1, 'firing', 1, 'failed', ?, ?, ?, ?)`,
    ).run(channel.id, now, canaryOf('notify', 'delivery'), now, now);
    db.prepare(
      "INSERT INTO marketplace_registries (name, address, added_by, added_at) VALUES ('first', ?, '1', ?)",
    ).run(`https://${canaryOf('marketplace', 'registry')}.example.org`, now);
    db.prepare(
      `INSERT INTO marketplace_history (pack_id, action, version, content_hash, verdict, reason, done_by, done_at)
         VALUES ('first-pack', 'install', '1.0.0', ?, 'review', ?, '1', ?)`,
    ).run('0'.repeat(64), canaryOf('marketplace', 'history'), now);
    db.prepare(
      "INSERT INTO webshell_host_keys (device_id, algorithm, fingerprint, trusted_at, trusted_by) VALUES (?, 'ssh-ed25519', ?, ?, 'first_use')",
    ).run(devices, `SHA256:${canaryOf('webshell', 'host-key')}`, now);
    db.prepare(
      "INSERT INTO imbridge_links (id, app_id, sender, sender_name, user_id, created_at) VALUES ('first-link', ?, 'U1', ?, 1, ?)",
    ).run(app.id, canaryOf('imbridge', 'link'), now);
  });
  const planner = await people.person('planner', 'admin');
  const { body: schedule, status } = await ask('POST', '/api/v1/schedules', planner.access, {
    name: canaryOf('schedules'),
    agent: 'scout',
    question: 'What needs attention today?',
    cron: '0 7 * * *',
    deliver_to: 'document',
  });
  assert.equal(status, 201, JSON.stringify(schedule));
  const approvals = await house.service(Approvals).request({
    owner: { kind: 'skill', ref: 'run-first' },
    tool: 'service_restart',
    class: 'mutating',
    signatures: 1,
    args: { unit: canaryOf('approval') },
    persona: undefined,
    target: { kind: 'device', id: devices, name: 'first-host' },
    rendered: `restart ${canaryOf('approval')}`,
    requested_by: { kind: 'user', id: '999999', name: 'agent', role: 'admin' },
  });
  const shells = await beside(house.dataDir, (db) =>
    Number(
      db
        .prepare(
          `INSERT INTO webshell_sessions (life, user_kind, user_id, device_id, edge_id, remote_user, auth, fingerprint, ip, started_at, ended_at, ended_by,
             recording_state, recording_key, recording_bytes)
           VALUES ('then', 'user', 1, ?, ?, ?, 'password', 'SHA256:x', '10.0.0.1', ?, ?, 'exit', 'complete', 'sealed', 10)`,
        )
        .run(devices, edges, canaryOf('webshell'), Date.now() - 1_000, Date.now()).lastInsertRowid,
    ),
  );
  return {
    ...alerts,
    edges,
    devices,
    enrolments,
    ...knowledge,
    ...topology,
    apps: app.id,
    panels: panel.id,
    'notification-channels': channel.id,
    'alert-sources': source.id ?? source.key,
    orgs,
    approvals: approvals.id,
    schedules: schedule.id,
    checks: 'first-check',
    objectives: canaryOf('objectives'),
    heartbeats: canaryOf('heartbeats'),
    'connected-stores': 'first-store',
    skills: 'canary-guide',
    registries: 'first',
    versions: 1,
    evidence: await evidenceOf(people),
    roles: 'watcher',
    custom: 'scout',
    agents: 'scout',
    dashboards: 'first',
    traces: '1'.repeat(32),
    sessions: shells,
    recordings: shells,
    users: 1,
  };
}

async function alertsOf(
  { house, clock, ask }: Household,
  must: Must,
): Promise<Record<string, number>> {
  const rule = await must('POST', '/api/v1/alert-rules', {
    rule_key: 'first_up',
    name: 'first',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    join_mode: 'all',
    severity: 'warning',
    scope_type: 'global',
    conditions: [{ expr: 'up == 1' }],
    annotations: { summary: canaryOf('alert') },
  });
  const silence = await must('POST', '/api/v1/alerts/silences', {
    matchers: [{ name: 'instance', value: 'nobody' }],
    duration: '1h',
    reason: canaryOf('alert', 'silence'),
  });
  await must('PUT', '/api/v1/recording-rules/groups', {
    group: 'first',
    rules: [{ record: 'first:up', expr: 'up', labels: { note: canaryOf('alert', 'recording') } }],
  });
  let incidents: number | undefined;
  for (let round = 0; round < 12 && incidents === undefined; round += 1) {
    clock.ahead += 10_000;
    await house.service(AlertEvaluator).tick();
    incidents = (await must('GET', '/api/v1/alerts/incidents')).items.find(
      (one: { rule: string }) => one.rule === 'first_up',
    )?.id;
  }
  assert.ok(incidents, 'the rule fires');
  const { id: investigations } = await must(
    'POST',
    `/api/v1/alerts/incidents/${incidents}/investigation`,
    {},
  );
  await must('POST', `/api/v1/alerts/incidents/${incidents}/notes`, {
    text: canaryOf('alert', 'note'),
  });
  await told(() =>
    ask('POST', `/api/v1/investigations/${investigations}/feedback`, house.token, {
      verdict: 'right',
      comment: canaryOf('investigate', 'feedback'),
    }),
  );
  return { 'alert-rules': rule.id, silences: silence.id, incidents, investigations };
}

async function knowledgeOf({ house }: Household, must: Must): Promise<Record<string, number>> {
  const path = '/api/v1/knowledge';
  const doc = await must('POST', `${path}/docs`, {
    path: 'notes/first.md',
    content: `# First\n\n${canaryOf('knowledge', 'version')}`,
  });
  await must('PATCH', `${path}/docs/${doc.id}`, {
    content: `# First\n\n${canaryOf('knowledge')}`,
  });
  await must('PATCH', `${path}/docs/${doc.id}/care`, { owner: canaryOf('knowledge', 'owner') });
  const identity = await must('POST', `${path}/ssh-identities/generate`, {
    name: canaryOf('knowledge', 'identity'),
  });
  const repo = await must('POST', `${path}/repos`, {
    url: `https://127.0.0.1:1/${canaryOf('knowledge', 'repository')}.git`,
    sync_interval: 0,
  });
  const gap = await beside(house.dataDir, (db) =>
    Number(
      db
        .prepare(
          "INSERT INTO knowledge_gaps (question, scope, asker, found_nothing, not_opened, last_at) VALUES (?, 'null', '', 3, 0, ?)",
        )
        .run(canaryOf('knowledge', 'gap'), Date.now()).lastInsertRowid,
    ),
  );
  return { docs: doc.id, 'ssh-identities': identity.id, repos: repo.id, gaps: gap };
}

async function topologyOf(must: Must): Promise<Record<string, number | string>> {
  const path = '/api/v1/topology';
  await must('POST', `${path}/node-types`, {
    name: 'mill',
    display_name: canaryOf('topology', 'node-type'),
  });
  await must('POST', `${path}/relation-types`, {
    name: 'grinds',
    display_name: canaryOf('topology', 'relation-type'),
    direction: 'src_to_dst',
  });
  const node = async (name: string): Promise<number> =>
    (
      await must('POST', `${path}/nodes`, {
        type: 'service',
        name,
        props: { note: canaryOf('topology') },
      })
    ).id;
  const [first, second] = [await node('shop'), await node('till')];
  const relation = await must('POST', `${path}/relations`, {
    type: 'grinds',
    src_id: first,
    dst_id: second,
    props: { note: canaryOf('topology', 'relation') },
  });
  return { nodes: first, relations: relation.id, 'node-types': 'mill', 'relation-types': 'grinds' };
}

/** A result that nobody's person has asked for, as svc keeps it for its own work. */
async function evidenceOf({ house }: Household): Promise<string> {
  const { evidence } = await house.service(SkillRunner).run({
    principal: { kind: 'system', id: 'investigate', role: 'admin', grants: ['*'] },
    key: 'logs_query',
    params: { query: '{app="shop"}', limit: 10 },
    origin: 'background',
  });
  assert.ok(evidence, 'the result is kept');
  return evidence.id;
}

/** Waits until the answer is a success: the work that it is about may still be running. */
async function told(send: () => Promise<Answer>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const { status, text } = await send();
    if (status < 300) {
      return;
    }
    assert.ok(tries < 1_000, text);
    await pause(20);
  }
}

async function pushed({ house }: Household, device: string): Promise<void> {
  const at = Date.now() - 5_000;
  await house.service(MetricsIngest).write([
    { labels: { __name__: 'up', device_id: device, instance: 'one' }, time: at, value: 1 },
    {
      labels: { __name__: 'canary_metric', device_id: device, note: canaryOf('metricsdb') },
      time: at,
      value: 7,
    },
  ]);
  await house.service(LogIngest).write([
    {
      at: { ms: at, ns: 0 },
      labels: { device_id: device, app: 'shop', note: canaryOf('logs') },
      line: canaryOf('logs'),
    },
  ]);
  const span = {
    traceId: '1'.repeat(32),
    spanId: '1234567890abcdef',
    name: canaryOf('traces'),
    kind: 2,
    startTimeUnixNano: `${at}000000`,
    endTimeUnixNano: `${at + 5}000000`,
  };
  const spans = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  const { accepted } = await house
    .service(TraceIngest)
    .push('otlp-json', new TextEncoder().encode(JSON.stringify(spans)), {
      stamp: { device_id: device },
    });
  assert.equal(accepted, 1);
}

/** Waits until the guide in the folder of `guidesIn` is served. */
async function guideServes(house: Household['house']): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if ((await house.fetch('/api/v1/skills/canary-guide')).status === 200) {
      return;
    }
    await pause(20);
  }
  throw new Error('the guide is not served');
}
