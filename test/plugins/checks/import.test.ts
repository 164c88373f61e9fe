import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import Database from 'better-sqlite3';
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

/**
 * Makes a database as Uptime Kuma 1.23 has it after its public migrations (db/old_migrations), with the
 * columns that those of 2.0 add (db/knex_migrations), of which the last ones are of later versions.
 */
function kumaDatabase(path: string, monitors: readonly object[]): void {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.exec(`
    CREATE TABLE notification (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), active BOOLEAN DEFAULT 1 NOT NULL, user_id INTEGER, is_default BOOLEAN DEFAULT 0 NOT NULL, config TEXT);
    INSERT INTO notification (name, config) VALUES ('chat', '{"token": "c-7Q"}');
    CREATE TABLE monitor (
      id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(150), active BOOLEAN DEFAULT 1 NOT NULL, user_id INTEGER,
      interval INTEGER DEFAULT 20 NOT NULL, url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000, hostname VARCHAR(255), port INTEGER,
      created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL, keyword VARCHAR(255), maxretries INTEGER DEFAULT 0 NOT NULL,
      ignore_tls BOOLEAN DEFAULT 0 NOT NULL, upside_down BOOLEAN DEFAULT 0 NOT NULL, maxredirects INTEGER DEFAULT 10 NOT NULL,
      accepted_statuscodes_json TEXT DEFAULT '["200-299"]' NOT NULL, dns_resolve_type VARCHAR(5), dns_resolve_server VARCHAR(255),
      retry_interval INTEGER DEFAULT 0 NOT NULL, push_token VARCHAR(32), method TEXT DEFAULT 'GET' NOT NULL, body TEXT, headers TEXT,
      basic_auth_user TEXT, basic_auth_pass TEXT, proxy_id INTEGER, mqtt_topic TEXT, mqtt_username VARCHAR(255), mqtt_password VARCHAR(255),
      database_connection_string VARCHAR(2000), database_query TEXT, auth_method VARCHAR(250), grpc_url VARCHAR(255),
      grpc_service_name VARCHAR(255), grpc_enable_tls BOOLEAN DEFAULT 0 NOT NULL, radius_password VARCHAR(255), parent INTEGER,
      invert_keyword BOOLEAN DEFAULT 0 NOT NULL, json_path TEXT, expected_value VARCHAR(255), timeout DOUBLE DEFAULT 0 NOT NULL,
      json_path_operator VARCHAR(255), conditions TEXT DEFAULT '[]' NOT NULL, smtp_security VARCHAR(255), ws_subprotocol VARCHAR(255) DEFAULT '' NOT NULL,
      ip_family VARCHAR(4), bearer_token TEXT
    )`);
  for (const { accepted_statuscodes: codes, ...monitor } of monitors as readonly Shown[]) {
    const row: Shown = { ...monitor, accepted_statuscodes_json: JSON.stringify(codes) };
    const columns = Object.keys(row).map((name) =>
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
    database
      .prepare(
        `INSERT INTO monitor (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      )
      .run(...Object.values(row));
  }
  database.close();
}

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
    return outcome.json<Answer>();
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
  const database = write('kuma.db', '');
  kumaDatabase(database, kumaMonitors());
  assert.deepEqual(await run(database), preview);
  const taken = await run(database, '--apply');
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
  const shop = await check('Monitor 8');
  assert.deepEqual(
    [shop['kind'], shop['target'], shop['username'], shop['has_password']],
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

test('what only newer versions of Uptime Kuma store is taken from their database, or named', async (t) => {
  const write = files(t);
  const run = async (path: string) => await svc(['check', 'import', path, '--json']);
  const path = write('kuma.db', '');
  kumaDatabase(path, [
    monitor(1, { type: 'group', name: 'Outer', active: 0 }),
    monitor(2, { type: 'group', name: 'Inner', parent: 1 }),
    monitor(3, { type: 'ping', hostname: '192.0.2.3', parent: 2, ipFamily: 'ipv4' }),
    monitor(4, { type: 'websocket-upgrade', url: 'wss://192.0.2.4/live' }),
    monitor(5, { type: 'dns', hostname: 'example.org', conditions: '[{"type": "expression"}]' }),
    monitor(6, { type: 'http', url: 'https://192.0.2.5/', accepted_statuscodes: ['2xx'] }),
    monitor(7, { type: 'mongodb', databaseConnectionString: 'mongodb://192.0.2.6' }),
  ]);
  const { planned, left } = (await run(path)).json<Answer>();
  assert.deepEqual(planned, ['Inner Monitor 3', 'Monitor 4', 'Monitor 5', 'Monitor 6']);
  assert.deepEqual(
    left.map(({ name, why }) => `${name}: ${why}`),
    [
      'Monitor 5: its conditions; write them as conditions of svc',
      'Monitor 6: its status codes 2xx',
      'Monitor 7: svc has no check for monitors of type mongodb',
      'notifications: 1 channels; set them up in svc',
    ],
  );

  const other = write('other.db', '');
  new Database(other).exec('CREATE TABLE monitor (id INTEGER, title TEXT)').close();
  const refused = await run(other);
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr + refused.stdout,
    /other\.db is a database, but not that of Uptime Kuma/,
  );
});
