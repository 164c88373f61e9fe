import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { fileOf } from '../../bin/upkeep/config-files/export.ts';
import { projectRoot, scratch, type Serving, serving, svc } from './launcher.ts';

test(
  'what is configured goes to files and comes back, also into another svc',
  { timeout: 240_000 },
  async (t) => {
    const folder = scratch(t);
    const one = await serving(t, join(folder, 'one'));
    const post = async (path: string, body: object): Promise<void> => {
      const answer = await fetch(one.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${one.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 201, await answer.text());
    };
    const ask = (args: readonly string[], dataDir: string, env: Record<string, string> = {}) =>
      svc([...args, '--json', '--data', dataDir], { env });
    await post('/api/v1/notification-channels', {
      name: 'second',
      channel_type: 'webhook',
      endpoint: 'https://hooks.example.org/second',
    });
    const channelsThere = async () =>
      (
        (await (await one.fetch('/api/v1/notification-channels')).json()) as {
          items: { id: number; name: string }[];
        }
      ).items;
    const second = (await channelsThere()).find(({ name }) => name === 'second')!;
    const onCall = {
      name: 'on call',
      channel_type: 'webhook',
      endpoint: 'https://hooks.example.org/s3cret-path',
      secret: 'signs',
    };
    await post('/api/v1/notification-channels', { ...onCall, fallback_channel_id: second.id });
    await post('/api/v1/roles', {
      name: 'oncall',
      description: 'takes incidents',
      grants: ['alert:silence'],
    });
    await post('/api/v1/alert-rules', {
      rule_key: 'mine_disk',
      name: 'Disk is slow',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ expr: 'up == 0' }],
      notify_channel_ids: [(await channelsThere()).find(({ name }) => name === 'on call')!.id],
    });
    const recordings = {
      group: 'jobs/per: minute',
      interval_seconds: 60,
      rules: [{ record: 'job:up:sum', expr: 'sum by (job) (up)', labels: { of: 'us' } }],
    };
    const put = {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(recordings),
    };
    assert.equal((await one.fetch('/api/v1/recording-rules/groups', put)).status, 200);
    assert.equal(
      (await svc(['setting', 'set', 'log.level', 'warn', '--data', one.dataDir])).code,
      0,
    );
    const panel = {
      title: 'Load',
      type: 'timeseries',
      query: 'node_load1',
      position: { x: 0, y: 0, w: 12, h: 8 },
    };
    await post('/api/v1/monitor/panels', { dashboard_uid: 'ops', ...panel });
    await post('/api/v1/monitor/panels', {
      dashboard_uid: 'manager',
      ...panel,
      position: { x: 0, y: 400, w: 24, h: 8 },
    });
    const recurrence = {
      days: ['sat'],
      start: '02:00',
      time_zone: 'Europe/Berlin',
      duration: '2h',
    };
    await post('/api/v1/alerts/silences', {
      name: 'backup window',
      matchers: [{ name: 'rule', value: 'disk_full' }],
      duration: '30d',
      recurrence,
      reason: 'backups',
    });
    await post('/api/v1/alerts/silences', {
      matchers: [{ name: 'rule', value: 'host_down' }],
      duration: '2h',
      reason: 'moving',
    });
    await installed(one, 'nginx-doctor');

    const files = join(folder, 'config');
    const exported = await ask(['export', files], one.dataDir);
    assert.equal(exported.code, 0, exported.stderr);
    assert.deepEqual(readdirSync(files).sort(), [
      'channels',
      'dashboards',
      'packs',
      'recording-rules',
      'registries',
      'roles',
      'rules',
      'settings',
      'silences',
    ]);
    assert.match(
      readFileSync(join(files, 'dashboards', 'manager.yaml'), 'utf8'),
      /^uid: manager\ntitle: null\nvariables: \[\]\npanels:\n {2}- title: Load\n/,
    );
    assert.match(
      readFileSync(join(files, 'packs', 'nginx-doctor.yaml'), 'utf8'),
      /source:\n {2}kind: registry\n {2}from: shipped\n {2}name: nginx-doctor\nsha256: null\ncontent_hash: [0-9a-f]{64}\n/,
    );
    const channel = readFileSync(join(files, 'channels', 'on%20call.yaml'), 'utf8');
    assert.match(
      channel,
      /endpoint:\n {2}from_env: APPLY_SECRET_CHANNELS_ON_CALL_ENDPOINT\nsecret:\n {2}from_env: APPLY_SECRET_CHANNELS_ON_CALL_SECRET\n/,
    );
    assert.match(channel, /fallback_channel_id: second\n/);
    assert.ok(!channel.includes('s3cret') && !channel.includes('hooks.example.org'));
    const recordingFile = join(files, 'recording-rules', 'jobs%2Fper%3A%20minute.yaml');
    const recording = readFileSync(recordingFile, 'utf8');
    assert.equal(
      recording,
      'group: "jobs/per: minute"\ninterval_seconds: 60\nlimit: 0\nenabled: true\nrules:\n  - record: job:up:sum\n    expr: sum by (job) (up)\n    labels:\n      of: us\n',
    );
    const ruleFile = join(files, 'rules', 'mine_disk.yaml');
    const rule = readFileSync(ruleFile, 'utf8');
    assert.match(rule, /notify_channel_ids:\n {2}- on call\n/);
    assert.equal(
      readFileSync(join(files, 'settings', 'log.level.yaml'), 'utf8'),
      'category: log\nkey: level\nvalue: warn\n',
    );

    await t.test(
      'what was exported changes nothing; a difference is shown by a dry run, which changes nothing, and then made',
      async () => {
        assert.deepEqual((await ask(['apply', files], one.dataDir)).json()['changes'], []);
        writeFileSync(ruleFile, rule.replace('severity: warning', 'severity: critical'));
        writeFileSync(
          join(files, 'roles', 'oncall.yaml'),
          'name: oncall\ndescription: takes all incidents\n',
        );
        const [was, is] = [
          recordings.rules,
          [{ record: 'job:up:count', expr: 'count by (job) (up)' }, ...recordings.rules],
        ];
        const more = '  - record: job:up:count\n    expr: count by (job) (up)\n';
        writeFileSync(
          recordingFile,
          recording.replace('limit: 0\n', '').replace('rules:\n', `rules:\n${more}`),
        );
        const differs = [
          {
            kind: 'recording-rules',
            key: recordings.group,
            change: 'update',
            differs: [{ field: 'rules', there: was, here: is }],
          },
          {
            kind: 'roles',
            key: 'oncall',
            change: 'update',
            differs: [
              { field: 'description', there: 'takes incidents', here: 'takes all incidents' },
            ],
          },
          {
            kind: 'rules',
            key: 'mine_disk',
            change: 'update',
            differs: [{ field: 'severity', there: 'warning', here: 'critical' }],
          },
        ];
        assert.deepEqual((await ask(['apply', files, '--dry-run'], one.dataDir)).json(), {
          dry_run: true,
          changes: differs,
          warnings: [],
        });
        assert.deepEqual((await ask(['apply', files], one.dataDir)).json(), {
          dry_run: false,
          changes: differs,
          warnings: [],
        });
        assert.deepEqual(
          (await ask(['apply', files, '--dry-run'], one.dataDir)).json()['changes'],
          [],
        );
      },
    );

    await t.test('a file that cannot be applied stops all of it', async () => {
      const wrong = join(files, 'roles', 'zz.yaml');
      for (const [text, said] of [
        [
          'name: zz\nrights: []\n',
          /zz\.yaml has the unknown field "rights"; known fields: name, description, grants/,
        ],
        ['name: [', /zz\.yaml cannot be read/],
        [
          'name: zz\ngrants: all of them\n',
          /zz\.yaml is invalid: grants must be an array; nothing was applied/,
        ],
        ['name: zz\n', /zz\.yaml is invalid: grants is required/],
      ] as const) {
        writeFileSync(wrong, text);
        writeFileSync(ruleFile, rule);
        const { code, stderr } = await svc(['apply', files, '--data', one.dataDir]);
        assert.equal(code, 2);
        assert.match(stderr, said);
      }
      const rules = (await (await one.fetch('/api/v1/alert-rules?q=mine_disk')).json()) as {
        items: { severity: string }[];
      };
      assert.equal(rules.items[0]!.severity, 'critical');
      assert.equal((await ask(['export', files], one.dataDir)).code, 0);
      assert.equal(existsSync(wrong), false, 'a file of what is not there is removed by an export');
      await one.end();
    });

    await t.test(
      'in another svc, with the secrets from the environment, and not without',
      async (t) => {
        const two = await serving(t, join(folder, 'two'));
        const without = await svc(['apply', files, '--data', two.dataDir]);
        assert.equal(without.code, 2);
        assert.match(
          without.stderr,
          /on%20call\.yaml reads endpoint from APPLY_SECRET_CHANNELS_ON_CALL_ENDPOINT, which is not set/,
        );
        const channelFile = join(files, 'channels', 'on%20call.yaml');
        writeFileSync(
          channelFile,
          channel.replace('APPLY_SECRET_CHANNELS_ON_CALL_ENDPOINT', 'HOME'),
        );
        const stolen = await svc(['apply', files, '--data', two.dataDir]);
        assert.match(
          stolen.stderr,
          /reads endpoint from HOME; the variable must begin with APPLY_SECRET_/,
        );
        writeFileSync(channelFile, channel);
        const env = {
          APPLY_SECRET_CHANNELS_ON_CALL_ENDPOINT: 'https://hooks.example.org/s3cret-path',
          APPLY_SECRET_CHANNELS_ON_CALL_SECRET: 'signs',
          APPLY_SECRET_CHANNELS_SECOND_ENDPOINT: 'https://hooks.example.org/second',
        };
        const applied = await ask(['apply', files], two.dataDir, env);
        assert.equal(applied.code, 0, applied.stderr + applied.stdout);
        const made = applied
          .json<{ changes: { kind: string; key: string; change: string }[] }>()
          .changes.map(({ kind, key, change }) => `${change} ${kind}/${key}`);
        const plain = [
          'dashboards/manager',
          'dashboards/ops',
          'recording-rules/jobs/per: minute',
          'roles/oncall',
          'settings/log.level',
          'silences/backup window',
        ];
        assert.deepEqual(
          made.filter((change) => !change.includes('silences/silence-')),
          [
            ...plain,
            'channels/on call',
            'channels/second',
            'packs/nginx-doctor',
            'rules/mine_disk',
          ].map((key) => `${key.startsWith('settings') ? 'update' : 'create'} ${key}`),
        );
        assert.deepEqual(
          (await ask(['apply', files], two.dataDir, env)).json<{ changes: unknown[] }>().changes
            .length,
          2,
          'values of secrets are not compared: they are set again',
        );
        assert.deepEqual(
          (await ask(['apply', files], two.dataDir)).json()['changes'],
          [],
          'twice applied changes nothing',
        );
        assert.ok(!applied.stdout.includes('s3cret') && !applied.stdout.includes('signs'));
        const again = join(folder, 'again');
        assert.equal((await ask(['export', again], two.dataDir)).code, 0);
        assert.deepEqual(textsIn(again), textsIn(files));
      },
    );
  },
);

test(
  'a folder that is watched is applied at the start and at each change; a broken file leaves what was, and is told',
  { timeout: 300_000 },
  async (t) => {
    const folder = scratch(t);
    const files = join(folder, 'config');
    mkdirSync(join(files, 'roles'), { recursive: true });
    const role = join(files, 'roles', 'oncall.yaml');
    writeFileSync(role, 'name: oncall\ndescription: takes incidents\ngrants: [alert:silence]\n');
    const here = await serving(t, join(folder, 'data'), { env: { SVC_CONFIG_FOLDER: files } });
    const description = async (): Promise<string | undefined> => {
      const { items } = (await (await here.fetch('/api/v1/roles?limit=200')).json()) as {
        items: { name: string; description: string }[];
      };
      return items.find(({ name }) => name === 'oncall')?.description;
    };
    const until = async (wanted: string | undefined): Promise<void> => {
      for (
        const deadline = Date.now() + 20_000;
        (await description()) !== wanted;
        await pause(100)
      ) {
        assert.ok(Date.now() < deadline, `${wanted}: ${here.said()}`);
      }
    };
    const doctor = async () =>
      (await svc(['doctor', '--json', '--data', here.dataDir]))
        .json<{ findings: { subject: string; verdict: string; detail: string }[] }>()
        .findings.find(({ subject }) => subject === 'config folder')!;
    await until('takes incidents');
    assert.equal((await doctor()).verdict, 'ok');
    writeFileSync(role, 'name: oncall\ndescription: takes all of them\ngrants: [alert:silence]\n');
    await until('takes all of them');
    writeFileSync(role, 'name: oncall\ndescripti');
    for (
      const deadline = Date.now() + 20_000;
      (await doctor()).verdict === 'ok';
      await pause(200)
    ) {
      assert.ok(Date.now() < deadline, here.said());
    }
    assert.match((await doctor()).detail, /oncall\.yaml (cannot be read|has the unknown field)/);
    assert.equal(await description(), 'takes all of them');
    writeFileSync(role, 'name: oncall\ndescription: mended\n');
    await until('mended');
    chmodSync(files, 0o777);
    writeFileSync(role, 'name: oncall\ndescription: by a stranger\n');
    for (
      const deadline = Date.now() + 20_000;
      (await doctor()).verdict === 'ok';
      await pause(200)
    ) {
      assert.ok(Date.now() < deadline, here.said());
    }
    assert.match((await doctor()).detail, /other users can write to .*config:/);
    assert.equal(await description(), 'mended');
    // The same of a folder in it, of a file, and of what a link leads to.
    chmodSync(files, 0o755);
    const strange = join(folder, 'strange.yaml');
    writeFileSync(strange, 'name: oncall\ndescription: by a link\ngrants: []\n');
    const doors: readonly [() => void, () => void, RegExp][] = [
      [
        () => chmodSync(join(files, 'roles'), 0o777),
        () => chmodSync(join(files, 'roles'), 0o755),
        /other users can write to .*roles:/,
      ],
      [
        () => chmodSync(role, 0o666),
        () => chmodSync(role, 0o644),
        /other users can write to .*oncall\.yaml:/,
      ],
      [
        () => symlinkSync(strange, join(files, 'roles', 'other.yaml')),
        () => rmSync(join(files, 'roles', 'other.yaml')),
        /other\.yaml is a link/,
      ],
      // One that waits for a writer would keep all of svc waiting.
      [
        () => pipeAt(join(files, 'roles', 'pipe.yaml')),
        () => rmSync(join(files, 'roles', 'pipe.yaml')),
        /pipe\.yaml is not a regular file/,
      ],
    ];
    for (const [open, close, why] of doors) {
      open();
      for (
        const deadline = Date.now() + 20_000;
        !why.test((await doctor()).detail);
        await pause(200)
      ) {
        assert.ok(Date.now() < deadline, here.said());
      }
      assert.equal(await description(), 'mended');
      close();
    }
    await until('by a stranger');
  },
);

test('the config/ of the checkout is not written to, and a folder to name instead is said', async (t) => {
  const there = readdirSync(join(projectRoot, 'config'));
  const link = join(scratch(t), 'link');
  symlinkSync(join(projectRoot, 'config'), link);
  for (const folder of ['config', './config/mine', link]) {
    const { code, stderr } = await svc(['export', folder], { cwd: projectRoot });
    assert.equal(code, 2, folder);
    assert.match(
      stderr,
      /config belongs to the source checkout of svc: choose another folder, such as \.\/svc-config$/m,
    );
  }
  assert.deepEqual(readdirSync(join(projectRoot, 'config')), there);
});

test('an export follows no link, of a file or of a folder', async (t) => {
  const folder = scratch(t);
  const here = await serving(t, join(folder, 'data'));
  const [files, others] = [join(folder, 'config'), join(folder, 'others')];
  const ask = () => svc(['export', files, '--data', here.dataDir]);
  assert.equal((await ask()).code, 0);
  const rule = join(files, 'rules', readdirSync(join(files, 'rules'))[0]!);
  mkdirSync(others);
  writeFileSync(join(others, 'kept.yaml'), 'of others');
  rmSync(rule);
  symlinkSync(join(others, 'kept.yaml'), rule);
  assert.equal((await ask()).code, 0);
  assert.equal(readFileSync(join(others, 'kept.yaml'), 'utf8'), 'of others');
  assert.ok(lstatSync(rule).isFile());
  rmSync(join(files, 'rules'), { recursive: true });
  symlinkSync(others, join(files, 'rules'));
  const { code, stderr } = await ask();
  assert.equal(code, 1);
  assert.match(stderr, /rules is a link/);
  assert.deepEqual(readdirSync(others), ['kept.yaml']);
});

const pipeAt = (path: string): unknown => execFileSync('mkfifo', ['-m', '644', path]);

/** Every file below a folder by its path. */
const textsIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .flatMap((kind) =>
        readdirSync(join(folder, kind)).map((file) => [
          `${kind}/${file}`,
          readFileSync(join(folder, kind, file), 'utf8'),
        ]),
      ),
  );

/** A pack of those that come with svc, whatever it asks for. */
async function installed({ url, token }: Serving, id: string): Promise<void> {
  const send = (more: object): Promise<Response> =>
    fetch(`${url}/api/v1/marketplace/install`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ registry: 'shipped', pack_id: id, ...more }),
    });
  const asked = await send({});
  if (asked.status === 409) {
    const { details } = (await asked.json()) as { details: { path: string; message: string }[] };
    const answer = await send({
      confirm: details.find(({ path }) => path === '/confirm')!.message,
    });
    assert.equal(answer.status, 201, await answer.text());
  } else {
    assert.equal(asked.status, 201, await asked.text());
  }
}

test('a key never leads out of its folder', () => {
  assert.deepEqual(['../../etc', '.', 'a/b', 'on call'].map(fileOf), [
    '%2E.%2F..%2Fetc.yaml',
    '%2E.yaml',
    'a%2Fb.yaml',
    'on%20call.yaml',
  ]);
});
