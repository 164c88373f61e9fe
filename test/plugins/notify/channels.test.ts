import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { NoticeDispatcher, type Outcome } from 'svc/contracts/notify';
import { startTestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

import { undeclaredSeals } from '../../storage/sealed-places.ts';
import { startPlatform } from './fakes/platform.ts';
import { startReceiver } from './fakes/receiver.ts';
import { slackPath, startSlack } from './fakes/slack.ts';
import { startTelegram, telegramToken } from './fakes/telegram.ts';
import { atOnce, noticeOf } from './office.ts';

const path = '/api/v1/notification-channels';
const packFolder = fileURLToPath(new URL('./mattermost', import.meta.url));
const loopback = { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' };

/** Creates a stand-in for the alert plugin. */
function alertRoom() {
  const recorded: Outcome[] = [];
  const pins = new Map<number, string[]>();
  return {
    recorded,
    pins,
    record: async (outcomes: readonly Outcome[]) => void recorded.push(...outcomes),
    pinning: async (id: number) => pins.get(id) ?? [],
    burning: async () => [],
    background: async () => undefined,
    instances: async () => ({ items: [], total: 0 }),
    audible: async () => [],
  };
}

async function notifyHouse(t: TestContext, options: Partial<TestHostOptions> = {}) {
  const alerts = alertRoom();
  const house = await startTestHost(t, {
    plugins: ['notify'],
    services: { 'alert.notices': alerts },
    environment: loopback,
    ...options,
  });
  const ask = async (
    method: string,
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await house.fetch(route, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      etag: answer.headers.get('etag') ?? '',
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const create = async (draft: object) => {
    const answer = await ask('POST', path, {
      name: `channel ${Math.random()}`,
      ...atOnce,
      ...draft,
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  return { house, ask, create, alerts, dispatcher: house.service(NoticeDispatcher) };
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await holds());) {
    assert.ok(Date.now() < deadline, `within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a channel is created, shown without its secrets, replaced with its ETag and deleted', async (t) => {
  const { ask, create } = await notifyHouse(t);
  const made = await create({
    name: 'Ops',
    channel_type: 'im_provider_2',
    endpoint: `https://hooks.slack.com${slackPath}`,
  });
  assert.deepEqual(
    [
      made.channel_type,
      made.endpoint,
      made.secret,
      made.enabled,
      made.send_resolved,
      made.match_severity_min,
      made.template,
      made.source,
      made.degraded,
    ],
    ['slack', 'https://hooks.slack.com/••••', null, true, true, '', null, 'api', false],
  );
  const shown = await ask('GET', `${path}/${made.id}`);
  assert.deepEqual(shown.body, made);
  const changed = {
    name: 'Ops',
    channel_type: 'slack',
    endpoint: made.endpoint,
    match_severity_min: 'critical',
    match_labels: { team: 'db' },
    match_scope_types: ['host'],
  };
  const replaced = await ask('PUT', `${path}/${made.id}`, changed, { 'if-match': shown.etag });
  assert.deepEqual(
    [replaced.status, replaced.body.match_severity_min, replaced.body.match_labels],
    [200, 'critical', { team: 'db' }],
    replaced.text,
  );
  const late = await ask('PUT', `${path}/${made.id}`, changed, { 'if-match': shown.etag });
  assert.deepEqual([late.status, late.body.error], [409, 'conflict']);
  assert.equal(
    (await ask('POST', path, { ...changed, name: 'ops ', endpoint: 'https://hooks.slack.com/x' }))
      .status,
    409,
    'names are unique, whatever the case',
  );
  await create({ channel_type: 'webhook', endpoint: 'https://example.org' });
  const list = (await ask('GET', `${path}?limit=1`)).body;
  assert.deepEqual([list.items[0].endpoint, list.total], ['https://example.org', 2]);
  assert.equal(
    (await ask('GET', `${path}?limit=1&cursor=${list.next_cursor}`)).body.items[0].id,
    made.id,
  );
  assert.equal((await ask('DELETE', `${path}/${made.id}`)).status, 204);
  assert.equal((await ask('GET', `${path}/${made.id}`)).status, 404);
});

test('what no channel can be is refused with the field and the reason, and no secret in the sentence', async (t) => {
  const { ask } = await notifyHouse(t);
  const good = { name: 'x', channel_type: 'webhook', endpoint: 'https://example.org/s3cr3t' };
  const wrong: readonly (readonly [object, RegExp])[] = [
    [
      { ...good, channel_type: 'pigeon' },
      /channel_type is one of webhook, feishu, slack, dingtalk, wecom, telegram, pagerduty, opsgenie"/,
    ],
    [{ ...good, channel_type: 'log' }, /channel_type is one of/],
    [{ ...good, endpoint: 's3cr3t' }, /endpoint must be an address such as/],
    [{ ...good, endpoint: 'ftp://example.org/s3cr3t' }, /endpoint must be an address such as/],
    [{ ...good, endpoint: 'https://u:s3cr3t@example.org/' }, /user name or a password/],
    [{ ...good, endpoint: 'https://example.org/••••' }, /endpoint is masked/],
    [
      { ...good, channel_type: 'slack', secret: 's3cr3t' },
      /secret must be empty: channels of Slack have none/,
    ],
    [{ ...good, channel_type: 'dingtalk' }, /endpoint must have an access_token/],
    [{ ...good, channel_type: 'wecom' }, /endpoint must have a key/],
    [
      { ...good, channel_type: 'telegram', endpoint: '-100123' },
      /secret is required for a channel of Telegram/,
    ],
    [
      { ...good, channel_type: 'telegram', endpoint: '-100123', secret: 's3cr3t' },
      /secret must be the bot token/,
    ],
    [
      {
        ...good,
        channel_type: 'telegram',
        endpoint: `https://api.telegram.org/bot1:s3cr3t/sendMessage?chat_id=1`,
        secret: telegramToken,
      },
      /enter that as the secret/,
    ],
    [
      { ...good, template: 'a\n  {{ .labels.x | nothing }}' },
      /template: template:2:\d+: .*nothing/,
    ],
    [{ ...good, match_severity_min: 'urgent' }, /match_severity_min/],
    [{ ...good, match_scope_types: ['edge'] }, /match_scope_types/],
    [{ ...good, match_labels: { 'a b': 'c' } }, /match_labels/],
    [{ ...good, name: '  ' }, /name is empty/],
    [{ ...good, colour: 'red' }, /colour/],
  ];
  for (const [draft, message] of wrong) {
    const { status, body, text } = await ask('POST', path, draft);
    assert.equal(status, 400, JSON.stringify(draft));
    assert.match(text, message);
    assert.ok(!text.includes('s3cr3t'), text);
    assert.equal(body.error, 'invalid_argument');
  }
});

test('every filter of a channel decides, alone and for real, who is told', async (t) => {
  const { create, dispatcher, alerts } = await notifyHouse(t);
  const filters: Record<string, object> = {
    everything: {},
    critical: { match_severity_min: 'critical' },
    warning: { match_severity_min: 'warning' },
    pipelines: { match_scope_types: ['monitoring_pipeline', 'global'] },
    db: { match_labels: { team: 'db' } },
    both: { match_labels: { team: 'db', env: 'prod' } },
    off: { enabled: false },
  };
  const platforms = new Map<string, Awaited<ReturnType<typeof startReceiver>>>();
  const ids = new Map<string, number>();
  for (const [name, filter] of Object.entries(filters)) {
    const platform = await startReceiver(t);
    platforms.set(name, platform);
    ids.set(
      name,
      (await create({ name, channel_type: 'webhook', endpoint: platform.url, ...filter })).id,
    );
  }
  const cases: readonly (readonly [ReturnType<typeof noticeOf>, readonly string[]])[] = [
    [noticeOf(1, 'firing', { incident: { severity: 'info', labels: {} } }), ['everything']],
    [
      noticeOf(2, 'firing', { incident: { severity: 'warning', labels: { team: 'db' } } }),
      ['everything', 'warning', 'db'],
    ],
    [
      noticeOf(3, 'firing', {
        incident: {
          severity: 'critical',
          scope_type: 'global',
          labels: { team: 'web', env: 'prod' },
        },
      }),
      ['everything', 'critical', 'warning', 'pipelines'],
    ],
    [
      noticeOf(4, 'firing', {
        incident: { severity: 'info', labels: { team: 'db', env: 'prod' } },
      }),
      ['everything', 'db', 'both'],
    ],
    [
      noticeOf(5, 'firing', {
        pins: [ids.get('critical')!, ids.get('off')!, 999],
        incident: { severity: 'critical' },
      }),
      ['critical'],
    ],
    [
      noticeOf(6, 'firing', { pins: [ids.get('critical')!], incident: { severity: 'warning' } }),
      [],
    ],
  ];
  const expected = new Map<string, number[]>(Object.keys(filters).map((name) => [name, []]));
  for (const [notice, takers] of cases) {
    const foreseen = await dispatcher.preview(notice);
    assert.deepEqual(
      foreseen.filter(({ sends }) => sends).map(({ name }) => name),
      Object.keys(filters).filter((name) => takers.includes(name)),
    );
    assert.ok(
      foreseen.every(({ sends, reason }) => sends !== (reason !== undefined && reason.length > 10)),
    );
    await dispatcher.accept(notice);
    takers.forEach((name) => expected.get(name)!.push(notice.incident.id));
  }
  await until(
    'all are told',
    () => alerts.recorded.length === [...expected.values()].flat().length,
  );
  for (const [name, platform] of platforms) {
    assert.deepEqual(
      platform.taken.map(({ body }) => body.incident.id),
      expected.get(name),
      name,
    );
  }
  assert.deepEqual(await dispatcher.unknown([ids.get('off')!, 999]), [999]);
  const all = [...ids.values()];
  const deaf = await dispatcher.refusing(all, { severity: 'info', scope_type: 'global' });
  assert.deepEqual(
    deaf.filter(({ disabled }) => disabled),
    [{ name: 'off', reason: 'the channel is disabled', disabled: true }],
  );
  const filtering = deaf.filter(({ disabled }) => !disabled);
  assert.ok(filtering.length > 0);
  assert.ok(filtering.every(({ reason }) => reason.startsWith('the channel takes ')));
  const computed = await dispatcher.refusing(all, { scope_type: 'global' });
  assert.ok(computed.length < deaf.length, 'a severity that is computed may be any');
});

test('the webhook’s body and headers are those of the specification, and a template adds its text', async (t) => {
  const { create, dispatcher } = await notifyHouse(t);
  const platform = await startReceiver(t, 'shared-s3cret');
  const template =
    '{{.kind}}: {{.incident.summary}} is {{printf "%.0f" $value}} ({{$labels.team | toUpper}})';
  await create({
    channel_type: 'webhook',
    endpoint: `${platform.url}/hook?x=1`,
    secret: 'shared-s3cret',
    template,
  });
  const notice = noticeOf(9, 'firing', { incident: { runbook_url: 'https://wiki.example/cpu' } });
  await dispatcher.accept(notice);
  await until('it has arrived', () => platform.taken.length === 1);
  const { body, headers, url } = platform.taken[0]!;
  const { sent_at: sentAt, title, link, act_link: act, facts, steps, ...rest } = body;
  assert.deepEqual(rest, {
    version: '1',
    event: 'firing',
    incident: notice.incident,
    rule: {
      rule_key: 'cpu_high',
      name: 'CPU is busy',
      severity: 'warning',
      runbook_url: 'https://wiki.example/cpu',
    },
    group_key: 'cpu_high:host:9',
    text: 'firing: CPU is busy on host 9 is 94 (DB)',
  });
  assert.deepEqual(
    [title, steps, facts[0]],
    ['[FIRING] warning: CPU is busy on host 9', [], { name: 'Rule', text: 'CPU is busy' }],
  );
  assert.match(link, /\/api\/v1\/incident-pages\/[\w-]+\.[\w-]{43}$/);
  assert.equal(act, `${new URL(link).origin}/ui/incidents/9`);
  assert.match(sentAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.match(String(headers['idempotency-key']), /^[0-9a-f-]{36}$/);
  assert.equal(url.search, '?x=1');
});

test('a template that fails on an incident does not keep anybody from hearing of it', async (t) => {
  const { create, dispatcher } = await notifyHouse(t);
  const platform = await startSlack(t);
  await create({
    channel_type: 'slack',
    endpoint: platform.url + slackPath,
    template: '{{ if .resolved_at }}done{{ else }}{{ .labels.a.b }}{{ end }}',
  });
  await dispatcher.accept(noticeOf(1, 'firing', { incident: { labels: { a: 'x' } } }));
  await until('it has arrived', () => platform.taken.length === 1);
  assert.match(
    platform.taken[0]!.text,
    /\(the template of this channel failed: template:1:\d+: can't evaluate field b[^]*\*Rule:\* CPU is busy/,
  );
});

test('a test goes the way of all notifications and tells what came of it, also for a channel that is off', async (t) => {
  const { ask, create, alerts } = await notifyHouse(t);
  const platform = await startTelegram(t);
  const { id } = await create({
    name: 'Ops',
    channel_type: 'telegram',
    endpoint: `${platform.url}?chat_id=-1001234567890`,
    secret: telegramToken,
    enabled: false,
  });
  const sent = await ask('POST', `${path}/${id}/test`);
  assert.deepEqual(
    [sent.status, sent.body.result, sent.body.attempts, sent.body.error],
    [200, 'sent', 1, null],
    sent.text,
  );
  assert.match(platform.taken[0]!.body.text, /test of the channel Ops/);
  assert.equal(typeof (await ask('GET', `${path}/${id}`)).body.last_sent_at, 'string');
  platform.next({ status: 500 });
  const failed = await ask('POST', `${path}/${id}/test`);
  assert.deepEqual(
    [failed.body.result, failed.body.attempts, failed.body.error],
    ['failed', 1, 'the platform answered 500'],
  );
  assert.equal((await ask('POST', `${path}/999/test`)).status, 404);
  assert.deepEqual(alerts.recorded, []);
});

test('a channel that rules name cannot be deleted; the refusal names them', async (t) => {
  const { ask, create, alerts } = await notifyHouse(t);
  const { id } = await create({ channel_type: 'webhook', endpoint: 'https://example.org/x' });
  alerts.pins.set(id, ['cpu_high', 'disk_full']);
  const { status, body } = await ask('DELETE', `${path}/${id}`);
  assert.equal(status, 409);
  assert.match(
    body.message,
    /2 rules send to .*: cpu_high, disk_full; remove the channel from them first/,
  );
  alerts.pins.delete(id);
  assert.equal((await ask('DELETE', `${path}/${id}`)).status, 204);
});

test('a secret that is known goes to no address that is typed later', async (t) => {
  const { ask, create } = await notifyHouse(t);
  const draft = {
    name: 'Ops',
    channel_type: 'telegram',
    endpoint: '-1001234567890',
    secret: telegramToken,
  };
  const made = await create(draft);
  assert.deepEqual([made.endpoint, made.secret], ['-1001234567890', '••••'], 'a chat is no secret');
  const elsewhere = { ...draft, endpoint: 'https://evil.example?chat_id=1' };
  for (const secret of ['••••', undefined]) {
    const { status, body } = await ask('PUT', `${path}/${made.id}`, { ...elsewhere, secret });
    assert.equal(status, 400);
    assert.match(body.message, /secret must be entered again when the endpoint changes/);
  }
  assert.match(
    (
      await ask('PUT', `${path}/${made.id}`, {
        ...draft,
        channel_type: 'webhook',
        endpoint: made.endpoint,
        secret: '••••',
      })
    ).text,
    /masked|address such as/,
  );
  const back = await ask('PUT', `${path}/${made.id}`, {
    ...draft,
    name: 'Renamed',
    endpoint: made.endpoint,
    secret: made.secret,
  });
  assert.deepEqual([back.status, back.body.secret, back.body.name], [200, '••••', 'Renamed']);
  assert.equal(
    (await ask('PUT', `${path}/${made.id}`, { ...elsewhere, secret: telegramToken })).body.endpoint,
    'https://evil.example/••••',
  );
});

test('settings bring channels, whose address nobody else can change or delete', async (t) => {
  const platform = await startSlack(t);
  const environment = { ...loopback, SVC_NOTIFY_SLACK_URL: platform.url + slackPath };
  const { house, ask, dispatcher } = await notifyHouse(t, {
    plugins: ['notify', 'setting'],
    environment,
  });
  const [channel] = (await ask('GET', path)).body.items;
  assert.deepEqual(
    [channel.name, channel.channel_type, channel.endpoint, channel.source],
    ['Slack', 'slack', `${platform.url}/••••`, 'settings'],
  );
  await dispatcher.accept(noticeOf(1));
  await until('it has arrived', () => platform.taken.length === 1);
  const draft = {
    name: 'Pager',
    channel_type: 'slack',
    endpoint: channel.endpoint,
    match_severity_min: 'critical',
  };
  assert.equal(
    (await ask('PUT', `${path}/${channel.id}`, draft)).body.match_severity_min,
    'critical',
  );
  assert.match(
    (await ask('PUT', `${path}/${channel.id}`, { ...draft, endpoint: 'https://example.org' })).body
      .message,
    /come from the setting notify\.slack_url/,
  );
  assert.match(
    (await ask('DELETE', `${path}/${channel.id}`)).body.message,
    /The channel Pager comes from the setting notify\.slack_url/,
  );
  await house.reload('notify');
  assert.equal((await ask('GET', path)).body.total, 1, 'a reload brings no second one');

  const hook = await startReceiver(t);
  assert.equal(
    (
      await ask('PUT', '/api/v1/system-settings/notify/webhook_url', {
        value: `${hook.url}/s3cr3t`,
      })
    ).status,
    200,
  );
  await until('a channel for it', async () => (await ask('GET', path)).body.total === 2);
  const [webhook] = (await ask('GET', path)).body.items;
  assert.equal((await ask('POST', `${path}/${webhook.id}/test`)).body.result, 'sent');
  assert.equal((await ask('DELETE', '/api/v1/system-settings/notify/webhook_url')).status, 204);
  assert.match(
    (await ask('POST', `${path}/${webhook.id}/test`)).body.error,
    /the setting notify\.webhook_url is empty/,
  );
  assert.equal((await ask('DELETE', `${path}/${webhook.id}`)).status, 204);
});

test('a pack adds a kind of channel with nothing but its plugin.json', async (t) => {
  const { ask, create, dispatcher, alerts } = await notifyHouse(t, {
    plugins: ['notify', packFolder],
  });
  const platform = await startPlatform(t, ({ body }) =>
    typeof body?.text === 'string' && body.username === 'svc'
      ? {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: '{"status":"OK"}',
          taken: true,
        }
      : { status: 200, body: '{"status":"NO","message":"bad payload"}', taken: false },
  );
  const { id } = await create({
    channel_type: 'mattermost',
    endpoint: `${platform.url}/hooks/s3cr3t`,
  });
  assert.match(
    (
      await ask('POST', path, {
        name: 'x',
        channel_type: 'mattermost',
        endpoint: 'https://elsewhere.example/',
      })
    ).body.message,
    /endpoint leads to one of 127\.0\.0\.1/,
  );
  await dispatcher.accept(
    noticeOf(1, 'firing', { incident: { summary: 'quote " and \\ and {{ .x }}' } }),
  );
  await until('it has arrived', () => platform.taken.length === 1);
  assert.match(
    platform.taken[0]!.body.text,
    /^\*\*\[FIRING\] warning: quote " and \\ and \{\{ \.x \}\}\*\*/,
  );
  platform.next({ status: 200, body: '{"status":"NO","message":"archived"}' });
  assert.match((await ask('POST', `${path}/${id}/test`)).body.error, /status NO: archived/);
  await until('the outcome is told', () => alerts.recorded.length === 1);
});

test('no key of a channel stands in a log line, an audit row, an answer, an event or a file', async (t) => {
  const { house, ask, create, dispatcher, alerts } = await notifyHouse(t, {
    plugins: ['notify', 'audit', 'iam'],
    environment: { ...loopback, SVC_LOG_LEVEL: 'debug' },
  });
  const said: string[] = [];
  const hear = async (method: string, route: string, body?: unknown) => {
    const answer = await ask(method, route, body);
    said.push(answer.text);
    return answer;
  };
  const keys = [
    'hook-path-k3y-one',
    'webhook-k3y-secret',
    '654321:telegramk3yAAAAAAAAAAAA',
    'new-path-k3y-two',
  ];
  // It echoes whatever it was called with.
  const platform = await startPlatform(t, ({ url, headers }) => ({
    status: 403,
    body: `${url.href} ${JSON.stringify(headers)}`,
    taken: false,
  }));
  const draft = {
    name: 'a',
    channel_type: 'webhook',
    endpoint: `${platform.url}/${keys[0]}`,
    secret: keys[1],
  };
  const made = (await hear('POST', path, draft)).body;
  await hear('POST', path, {
    name: 'b',
    channel_type: 'telegram',
    endpoint: `${platform.url}?chat_id=1`,
    secret: keys[2],
  });
  await hear('POST', path, { ...draft, url: draft.endpoint });
  await hear('POST', path, { ...draft, template: '{{' });
  await dispatcher.accept(noticeOf(1));
  await until('both have failed', () => alerts.recorded.length === 2);
  await hear('PUT', `${path}/${made.id}`, { ...draft, endpoint: `${platform.url}/${keys[3]}` });
  await hear('POST', `${path}/${made.id}/test`);
  await hear('GET', path);
  await hear('GET', '/api/v1/admin/audit-logs?limit=200');
  await hear('DELETE', `${path}/${made.id}`);
  await create({ channel_type: 'webhook', endpoint: `${platform.url}/${keys[0]}` });
  await house.stop();
  assert.deepEqual(undeclaredSeals(house.dataDir), []);
  const everything = [
    said.join('\n'),
    house.lines.join('\n'),
    JSON.stringify(alerts.recorded),
    ...filesBelow(house.dataDir),
  ].join('\n');
  for (const key of keys) {
    assert.ok(
      !everything.includes(key),
      `${key}: …${everything.slice(Math.max(0, everything.indexOf(key) - 200)).slice(0, 400)}`,
    );
  }
});

test('what waits when the process ends is told by the next one, once', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-notify-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await notifyHouse(t, { dataDir });
  const platform = await startReceiver(t);
  platform.always({ status: 500 });
  await first.create({ channel_type: 'webhook', endpoint: platform.url });
  await first.dispatcher.accept(noticeOf(1));
  await until('a first try', () => platform.requests.length === 1);
  await first.house.stop();
  platform.always(undefined);
  const second = await notifyHouse(t, { dataDir });
  await until('the second has told it', () => second.alerts.recorded.length === 1);
  assert.deepEqual([platform.taken.length, second.alerts.recorded[0]!.attempts], [1, 2]);
});

test('a reload in the middle of a delivery loses nothing, and the room leaves nothing behind', async (t) => {
  const { house, create, dispatcher, alerts } = await notifyHouse(t);
  useNoLeaks(t, house);
  const platform = await startReceiver(t);
  await create({ channel_type: 'webhook', endpoint: platform.url });
  platform.next('silent');
  await dispatcher.accept(noticeOf(1));
  await until('it is being sent', () => platform.requests.length === 1);
  await house.reload('notify');
  await until('the next generation has sent it', () => alerts.recorded.length === 1);
  assert.deepEqual(
    [alerts.recorded[0]!.result, alerts.recorded[0]!.attempts, platform.taken.length],
    ['sent', 1, 1],
  );
});

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
