import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { openTerminal } from '../plugins/webshell/terminal.ts';
import { findPeer } from '../peers.ts';
import type { Row } from '../exercise.ts';
import type { Told } from './fresh-root.ts';
import { type Answers, type Asked, questions } from './fresh-root-questions.ts';

const url = 'http://127.0.0.1:8080';
const [model, inbox] = ['http://127.0.0.1:11500', 'http://127.0.0.1:9999'];
const [email, password] = ['you@example.org', 'a long enough passphrase'];
const patienceMs = 120_000;
const environment = {
  SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  SVC_LLM_COMPATIBLE_BASE_URL: `${model}/v1`,
  SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
  SVC_INVESTIGATE_ASSIST: 'false',
  SVC_ALERT_EVAL_INTERVAL: '2s',
  SVC_ALERT_COOLDOWN: '0s',
  SVC_LOG_LEVEL: 'warn',
  SVC_EDGE_LOCAL: 'false',
};

/** A root with the binary in it; nothing of ours is called by its programs but `/svc`. */
class Root {
  readonly folder: string;
  readonly #children: ChildProcess[] = [];

  constructor(folder: string) {
    this.folder = folder;
    execFileSync('mount', ['-t', 'proc', 'proc', join(folder, 'proc')]);
  }

  svc(args: readonly string[], input = ''): Record<string, unknown> {
    const ran = spawnSync('/usr/sbin/chroot', [this.folder, '/svc', ...args, '--json'], {
      env: {},
      encoding: 'utf8',
      input,
      timeout: patienceMs,
    });
    assert.equal(ran.status, 0, `svc ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return JSON.parse(ran.stdout) as Record<string, unknown>;
  }

  keep(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn('/usr/sbin/chroot', [this.folder, '/svc', ...args], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    // What it says goes to standard error: the last line of standard output is the story's.
    this.#children.push(child);
    return child;
  }

  async end(): Promise<void> {
    for (const child of this.#children
      .splice(0)
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    }
  }
}

async function seen<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const deadline = Date.now() + patienceMs; ; await pause(200)) {
    const found = await look().catch(() => undefined);
    if (found !== undefined && found !== false) {
      return found;
    }
    assert.ok(Date.now() < deadline, `within ${patienceMs / 1_000} s: ${what}`);
  }
}

let token = '';
const ask: Asked = async (path, body, type = 'application/json') => {
  const answer = await fetch(url + path, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { method: 'POST', body }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.ok(answer.ok, `${path} answered ${answer.status}: ${bytes.toString('utf8', 0, 500)}`);
  return bytes;
};
// oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the story says
const json = async <T = any>(path: string, body?: object): Promise<T> =>
  JSON.parse(String(await ask(path, body && JSON.stringify(body))) || 'null') as T;

async function signIn(): Promise<void> {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  token = ((await answer.json()) as { access_token: string }).access_token;
}

const ready = (): Promise<boolean> =>
  seen('it is ready', async () => (await fetch(`${url}/readyz`)).ok);

const steps: Row[] = [];
async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const done = await work();
  const row = { step: name, ok: true, seconds: Math.round((performance.now() - began) / 100) / 10 };
  steps.push(row);
  process.stderr.write(`${JSON.stringify(row)}\n`);
  return done;
}

async function tell(folder: string): Promise<Told> {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  const [manager, host, elsewhere] = ['manager', 'host', 'elsewhere'].map(
    (name) => new Root(join(folder, name)),
  ) as [Root, Root, Root];
  const notices: unknown[] = [];
  const receiver = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => (body += String(chunk)));
    req.on('end', () => {
      notices.push(JSON.parse(body));
      res.end('{}');
    });
  });
  await new Promise<void>((resolve) =>
    receiver.listen(Number(new URL(inbox).port), '127.0.0.1', resolve),
  );

  await step('runs', async () => {
    manager.keep(['fake-model']);
    manager.keep(['serve', '--data', '/data'], environment);
    await ready();
  });
  await step('first administrator', async () => {
    manager.svc(['user', 'create', email, '--role', 'admin', '--data', '/data'], `${password}\n`);
    await signIn();
  });
  const device = await step('agent in a second root', () => agent(manager, host));
  await step('metrics, logs, traces', telemetry);
  const incident = await step('alert, notice and report', () => alert(notices));
  const session = await step('chat', chat);
  const recording = await step('a shell, recorded', () => shell(folder, device));
  await step('the agent is gone', async () => {
    await host.end();
    await seen('its last samples are kept', async () =>
      (await json(`/api/v1/edges`)).items.every(
        (edge: { status: string }) => edge.status !== 'online',
      ),
    );
  });

  const at = Date.now();
  const subject = { at, incident, session, recording };
  const before = await step('twenty questions', () => answers(subject));
  await step('backup, while it serves', async () => {
    manager.svc(['backup', 'create', '/backup', '--with-key', '--data', '/data']);
    manager.svc(['backup', 'verify', '/backup']);
  });
  await step('the first is gone', () => manager.end());
  await step('restore elsewhere', async () => {
    cpSync(join(manager.folder, 'backup'), join(elsewhere.folder, 'backup'), { recursive: true });
    elsewhere.svc(['backup', 'restore', '/backup', '--data', '/data']);
    elsewhere.keep(['fake-model']);
    elsewhere.keep(['serve', '--data', '/data'], environment);
    await ready();
    await signIn();
  });
  const after = await step('the same questions', () => answers(subject));
  await step('secrets are open', async () => {
    const told = notices.length;
    const [channel] = (await json('/api/v1/notification-channels')).items as {
      id: number;
      name: string;
    }[];
    await json(`/api/v1/notification-channels/${channel!.id}/test`, {});
    await seen('the channel reaches its address', async () => notices.length > told);
  });
  await elsewhere.end();
  receiver.close();
  return {
    steps,
    questions: Object.keys(before).map((question) => ({
      question,
      ok: before[question] === after[question] && before[question] !== '',
      before: before[question]!.slice(0, 60),
      after: after[question]!.slice(0, 60),
    })),
  };
}

async function agent(manager: Root, host: Root): Promise<number> {
  const { token: enrolment } = manager.svc([
    'edge',
    'enrol',
    '--name',
    'far',
    '--data',
    '/data',
  ]) as { token: string };
  host.svc([
    'edge',
    'install',
    '--manager',
    url,
    '--token',
    enrolment,
    '--no-service',
    '--data',
    '/edge',
  ]);
  host.keep(['edge', '--data', '/edge']);
  const device = await seen(
    'the host is a device',
    async () => ((await json('/api/v1/edges')).items[0].device_id as number | null) ?? undefined,
  );
  await seen('its metrics are here', async () => {
    const { data } = await json(
      `/prometheus/api/v1/query?query=${encodeURIComponent(`count({device_id="${device}",__name__=~"node_.+"})`)}`,
    );
    return Number(data.result[0]?.value[1]) > 20;
  });
  return device;
}

async function telemetry(): Promise<void> {
  await ask('/api/v1/import/prometheus', 'fresh{lane="1"} 42\nfresh{lane="2"} 43\n', 'text/plain');
  const now = Date.now();
  const values = Array.from({ length: 50 }, (_, at) => [
    `${now - 50 + at}000000`,
    at === 25 ? 'a needle' : `line ${at}`,
  ]);
  await json('/loki/api/v1/push', { streams: [{ stream: { app: 'fresh' }, values }] });
  const span = (id: string, name: string) => ({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: id,
    name,
    kind: 2,
    startTimeUnixNano: `${now - 100}000000`,
    endTimeUnixNano: `${now}000000`,
  });
  await json('/v1/traces', {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'fresh' } }] },
        scopeSpans: [{ spans: [span('00f067aa0ba902b7', 'one'), span('00f067aa0ba902b8', 'two')] }],
      },
    ],
  });
}

async function alert(notices: readonly unknown[]): Promise<number> {
  await json('/api/v1/notification-channels', {
    name: 'phone',
    channel_type: 'webhook',
    endpoint: `${inbox}/told`,
    secret: 'signs',
  });
  await json('/api/v1/alert-rules', {
    rule_key: 'fresh_heat',
    name: 'Heat',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'critical',
    conditions: [{ expr: 'heat > 0' }],
  });
  const heat = (value: number): Promise<unknown> =>
    ask('/api/v1/import/prometheus', `heat ${value}\n`, 'text/plain');
  await heat(1);
  const incident = await seen('it fires', async () => {
    await heat(1);
    return (
      ((await json('/api/v1/alerts/incidents?rule=fresh_heat')).items[0]?.id as
        | number
        | undefined) ?? undefined
    );
  });
  await seen('somebody is told', async () => notices.length > 0);
  await seen(
    'it is investigated',
    async () =>
      (await json(`/api/v1/alerts/incidents/${incident}/investigation`)).status === 'ready',
  );
  await seen('it is over', async () => {
    await heat(0);
    return (await json(`/api/v1/alerts/incidents/${incident}`)).status === 'resolved';
  });
  return incident;
}

async function chat(): Promise<number | string> {
  const { id } = await json('/api/v1/chat/sessions', {});
  await json(`/api/v1/chat/sessions/${id}/messages`, { content: 'Is all well?' });
  return id as number | string;
}

/** Through the agent to an SSH server of this machine, which stands for one of the host. */
async function shell(folder: string, device: number): Promise<number> {
  const sshd = findPeer('sshd');
  assert.ok(sshd !== undefined, 'sshd is needed (Debian: apt-get install openssh-server)');
  const own = join(folder, 'sshd');
  mkdirSync(own);
  mkdirSync('/run/sshd', { recursive: true });
  for (const key of ['host', 'login']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(own, key)]);
  }
  cpSync(join(own, 'login.pub'), join(own, 'authorized'));
  chmodSync(join(own, 'authorized'), 0o600);
  const lines = [
    'Port 22',
    'ListenAddress 127.0.0.1',
    `HostKey ${join(own, 'host')}`,
    `AuthorizedKeysFile ${join(own, 'authorized')}`,
    'StrictModes no',
  ];
  writeFileSync(
    join(own, 'config'),
    [
      ...lines,
      'UsePAM no',
      'PermitRootLogin yes',
      'PrintMotd no',
      `PidFile ${join(own, 'pid')}`,
      '',
    ].join('\n'),
  );
  const server = spawn(sshd, ['-D', '-f', join(own, 'config')], { stdio: 'ignore' });
  await seen('sshd runs', async () => existsSync(join(own, 'pid')));
  const terminal = await openTerminal(
    `${url.replace('http', 'ws')}/api/v1/devices/${device}/shell`,
    {
      bearer: token,
      first: {
        user: 'root',
        auth: { type: 'key', private_key: readFileSync(join(own, 'login'), 'utf8') },
      },
    },
  );
  await terminal.frame('ready');
  terminal.type('echo fresh-root; exit 0\n');
  await terminal.frame('exit');
  await terminal.closed;
  server.kill('SIGKILL');
  return await seen('it is recorded', async () => {
    const [one] = (await json('/api/v1/webshell/recordings')).items as {
      id: number;
      sha256?: string;
    }[];
    return one?.id;
  });
}

async function answers(subject: Parameters<typeof questions>[1]): Promise<Answers> {
  const given = await questions(ask, subject);
  return Object.fromEntries(
    Object.entries(given).map(([question, text]) => [
      question,
      text.length > 200
        ? `${createHash('sha256').update(text).digest('hex')} of ${text.length}`
        : text,
    ]),
  );
}

const told = await tell(process.argv[2]!);
process.stdout.write(`\n${JSON.stringify(told)}\n`);
process.exit(0);
