import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { svc } from '../../cli/launcher.ts';

interface Answer {
  readonly created: readonly { readonly name: string; readonly text: string }[];
  readonly planned: readonly string[];
  readonly left: readonly { readonly name: string; readonly why: string }[];
}

type Shown = Readonly<Record<string, unknown>>;

/** Files of other products in a folder of the test. */
function files(t: TestContext): (name: string, text: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-check-import-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return (name, text) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
}

/** What every monitor of a backup has, whatever its type. */
const monitor = (id: number, more: object): object => ({
  id,
  name: `Monitor ${id}`,
  active: 1,
  interval: 60,
  maxretries: 2,
  upsideDown: 0,
  ignoreTls: 0,
  accepted_statuscodes: ['200-299'],
  method: 'GET',
  ...more,
});

const kumaMonitors = (): readonly object[] => [
  monitor(1, { type: 'group', name: 'Shop' }),
  monitor(2, {
    type: 'keyword',
    name: 'Front / page',
    parent: 1,
    url: 'https://192.0.2.1/?api_key=k-7Q',
    keyword: 'Welcome',
    headers: '{"X-Probe": "h-7Q"}',
    basic_auth_user: 'ann',
    basic_auth_pass: 'p-7Q',
    accepted_statuscodes: ['200-299', '300-399'],
    maxredirects: 0,
    ignoreTls: 1,
  }),
  monitor(3, {
    type: 'json-query',
    url: 'https://192.0.2.1/s',
    jsonPath: '$.state',
    expectedValue: 'ok',
  }),
  monitor(4, { type: 'port', hostname: '192.0.2.2', port: 22, active: 0 }),
  monitor(5, { type: 'ping', hostname: '192.0.2.3' }),
  monitor(6, {
    type: 'dns',
    hostname: 'example.org',
    dns_resolve_server: '192.0.2.53',
    port: 53,
    dns_resolve_type: 'MX',
  }),
  monitor(7, { type: 'push', name: 'Backup', interval: 3_600 }),
  monitor(8, {
    type: 'postgres',
    databaseConnectionString: 'postgres://app:d-7Q@192.0.2.4:5432/shop',
    databaseQuery: 'SELECT 1',
  }),
  monitor(9, { type: 'redis', databaseConnectionString: 'redis://:r-7Q@192.0.2.5:6379' }),
  monitor(10, {
    type: 'mqtt',
    hostname: '192.0.2.6',
    port: 1883,
    mqttTopic: 'a',
    mqttUsername: 'm',
    mqttPassword: 'm-7Q',
  }),
  monitor(11, { type: 'gamedig', hostname: '192.0.2.7', port: 1 }),
  monitor(12, { type: 'http', url: 'https://192.0.2.8/', upsideDown: 1 }),
  monitor(13, { type: 'http', url: 'https://192.0.2.8/', accepted_statuscodes: ['200', '404'] }),
  ...Array.from({ length: 87 }, (_, at) =>
    monitor(at + 14, { type: 'http', name: 'Site', url: `https://192.0.2.9/${at}` }),
  ),
];

const gatus = `
endpoints:
  - {name: front, group: core, url: "https://192.0.2.1/health", interval: 5m, headers: {X-Probe: h-7Q},
     client: {timeout: 5s, insecure: true, ignore-redirect: true},
     conditions: ["[STATUS] == 200", "[BODY].status == UP", "[DOMAIN_EXPIRATION] > 720h"]}
  - {name: mail, url: "starttls://192.0.2.2:587", conditions: ["[CONNECTED] == true", "[CERTIFICATE_EXPIRATION] > 48h"]}
  - {name: names, url: 192.0.2.53, dns: {query-name: example.org., query-type: A}, conditions: ["[DNS_RCODE] == NOERROR", "[BODY] == pat(*.*.*.*)"]}
  - {name: ping, url: "icmp://192.0.2.3", enabled: false, conditions: ["[CONNECTED] == true"]}
  - {name: shell, url: "ssh://192.0.2.4:22", conditions: ["[CONNECTED] == true"]}
${Array.from({ length: 94 }, (_, at) => `  - {name: site-${at}, group: many, url: "https://192.0.2.9/${at}", conditions: ["[STATUS] == 200"]}`).join('\n')}
external-endpoints:
  - {name: job, group: core, token: t-7Q, heartbeat: {interval: 30m}}
`;

test('files of other monitors become checks and heartbeats, and what does not is named', async (t) => {
  const write = files(t);
  const house = await startTestHost(t, { plugins: ['checks', 'heartbeats'] });
  const run = async (...args: readonly string[]): Promise<Answer> => {
    const outcome = await svc([
      ...['check', 'import', ...args, '--json'],
      ...['--url', house.url, '--token', house.token],
    ]);
    assert.equal(outcome.code, 0, outcome.stderr + outcome.stdout);
    return outcome.json<{ data: Answer }>().data ?? outcome.json<Answer>();
  };
  const check = (name: string): Promise<Shown> =>
    house.json(`/api/v1/checks/${encodeURIComponent(name)}`);

  const kuma = write(
    'kuma.json',
    JSON.stringify({ version: '1.23.16', notificationList: [{}], monitorList: kumaMonitors() }),
  );
  const preview = await run(kuma);
  assert.deepEqual([preview.created.length, preview.planned.length], [0, 97]);
  assert.equal((await house.json('/api/v1/checks')).items.length, 0);
  const taken = await run(kuma, '--apply');
  assert.equal(taken.created.length, 97);
  assert.deepEqual(
    taken.left.map(({ name, why }) => `${name}: ${why}`),
    [
      'Monitor 10: the topic that it waits for; svc connects and leaves',
      'Monitor 11: svc has no check for monitors of type gamedig',
      'Monitor 12: it is upside down: up while its address does not answer',
      'notifications: 1 channels; set them up in svc',
    ],
  );
  const front = await check('Shop Front - page');
  assert.deepEqual(
    [
      front['target'],
      front['conditions'],
      front['header_names'],
      front['max_redirects'],
      front['insecure'],
    ],
    [
      'https://192.0.2.1/?api_key=••••',
      ['[STATUS] >= 200', '[STATUS] <= 399', '[BODY] == pat(*Welcome*)'],
      ['X-Probe', 'authorization'],
      0,
      true,
    ],
  );
  assert.deepEqual((await check('Monitor 3'))['conditions'], [
    '[STATUS] >= 200',
    '[STATUS] <= 299',
    '[BODY].state == ok',
  ]);
  assert.equal((await check('Monitor 4'))['state'], 'paused');
  const database = await check('Monitor 8');
  assert.deepEqual(
    [database['kind'], database['target'], database['username'], database['has_password']],
    ['postgres', 'postgres://192.0.2.4:5432/shop', 'app', true],
  );
  assert.deepEqual((await check('Monitor 13'))['conditions'], ['[STATUS] == any(200, 404)']);
  assert.equal((await check('Site 87'))['target'], 'https://192.0.2.9/86');
  assert.match(taken.created.at(-1)!.text, /\/hb\/[\w-]{32,}$/);
  const again = await run(kuma, '--apply');
  assert.equal(again.created.length, 0);
  assert.match(again.left.find(({ name }) => name === 'Backup')!.why, /already exists/);

  const endpoints = await run(write('gatus.yaml', gatus), '--apply');
  assert.equal(endpoints.created.length, 99);
  assert.deepEqual(
    endpoints.left.map(({ name, why }) => `${name}: ${why}`),
    [
      'core front: condition [DOMAIN_EXPIRATION] > 720h: add a check of kind domain instead',
      'shell: svc has no check for ssh',
    ],
  );
  const mail = await check('mail');
  assert.deepEqual(
    [mail['kind'], mail['target'], mail['tls']],
    ['smtp', 'smtp://192.0.2.2:587', 'required'],
  );
  const names = await check('names');
  assert.deepEqual(
    [names['kind'], names['server'], names['target']],
    ['dns', '192.0.2.53', 'example.org'],
  );

  const probed = await run(
    write(
      'prometheus.yml',
      'global: {scrape_interval: 30s}\nscrape_configs:\n  - {job_name: web, metrics_path: /probe, params: {module: [ok]}, static_configs: [{targets: ["https://192.0.2.1/blackbox"]}]}\n  - {job_name: found, params: {module: [ok]}, dns_sd_configs: []}\n  - {job_name: node, static_configs: [{targets: ["192.0.2.1:9100"]}]}\n',
    ),
    ...[
      '--modules',
      write(
        'blackbox.yml',
        'modules:\n  ok: {prober: http, timeout: 5s, http: {valid_status_codes: [200, 204], method: head}}\n',
      ),
      '--apply',
    ],
  );
  assert.deepEqual(
    probed.created.map(({ name }) => name),
    ['192.0.2.1-blackbox'],
  );
  assert.equal(probed.left[0]!.name, 'found');
  const head = await check('192.0.2.1-blackbox');
  assert.deepEqual(
    [head['method'], head['interval_s'], head['conditions']],
    ['HEAD', 30, ['[STATUS] == any(200, 204)']],
  );

  const jobs = await run(
    write(
      'healthchecks.json',
      JSON.stringify({
        checks: [
          { name: 'Nightly', grace: 3_600, schedule: '15 2 * * *', tz: 'Europe/Berlin' },
          { name: 'Queue', grace: 60, timeout: 300 },
          { name: 'Odd', grace: 60, schedule: 'Mon *-*-* 02:00', tz: 'UTC' },
        ],
      }),
    ),
    '--apply',
  );
  assert.deepEqual([jobs.created.length, jobs.left.length], [2, 1]);
  const nightly = await house.json('/api/v1/heartbeats/Nightly');
  assert.deepEqual(
    [nightly.cron, nightly.time_zone, nightly.grace_s],
    ['15 2 * * *', 'Europe/Berlin', 3_600],
  );
});
