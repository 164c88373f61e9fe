import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { Ajv as EdgeAjv } from '../../../bin/agent/small-ajv.ts';
import { ProbeRules } from '../../../plugins/edge-skills/reach/probe-rules.ts';
import { SkillLog } from '../../../plugins/edge-skills/skill-log.ts';
import { folderOf, policyOf, programsOf, skilledEdge } from './machine.ts';

const field = (value: unknown, name: string): unknown => (value as Record<string, unknown>)[name];

async function listening(t: TestContext, server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Answers every question with one address. */
async function nameServer(t: TestContext): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const head = Buffer.from(question);
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 6);
    const end = question.indexOf(0, 12) + 5;
    const answer = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
    head.writeUInt16BE(0, 10);
    socket.send(Buffer.concat([head.subarray(0, end), answer]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => void socket.close());
  return socket.address().port;
}

const journalScript = `echo "$@" >> "$(dirname "$0")/journal.args"
printf '%s\\n' '{"__REALTIME_TIMESTAMP":"1700000002000002","MESSAGE":"second","_SYSTEMD_UNIT":"a.service","PRIORITY":"3","_PID":"7"}'
printf '%s\\n' '{"__REALTIME_TIMESTAMP":"1700000001000001","MESSAGE":[102,195,188,114,27],"__proto__":{"x":1}}'
printf '%s\\n' 'no json'`;
const pingScript = `echo "PING $7 56(84) bytes"; echo "3 packets transmitted, 2 received, 33% packet loss, time 2003ms"
echo "rtt min/avg/max/mdev = 0.041/0.052/0.063/0.009 ms"; exit 1`;
const systemctlScript = `echo "$@" >> "$(dirname "$0")/systemctl.args"
case "$1 $4" in "restart bad.service") echo "Job for bad.service failed." >&2; exit 1;; esac
[ "$1" = show ] && printf 'ActiveState=active\\nSubState=running\\nMainPID=4711\\nResult=success\\n'; exit 0`;

test('a machine tells of itself, asks around and restarts what its owner has listed', async (t) => {
  const programs = programsOf(t, {
    journalctl: journalScript,
    ping: pingScript,
    systemctl: systemctlScript,
  });
  const said = (name: string): string[] =>
    readFileSync(join(programs, name), 'utf8').trim().split('\n');
  const policy = policyOf({
    paths: ['/var/log/**'],
    services: ['web', 'bad.service'],
    probes: ['127.0.0.0/8:*'],
  });
  const { edge, list, run } = await skilledEdge(t, policy);
  const log = (): {
    event: string;
    audit_id: string;
    key: string;
    status?: string;
    params?: unknown;
  }[] =>
    readFileSync(join(edge.dataDir, 'plugins/edge-skills/skills.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  await t.test('it lists what it can do, with schema, class and tier', async () => {
    const told = await list();
    assert.deepEqual(
      told.filter((skill) => skill.class !== 'safe').map(({ key }) => key),
      ['service_restart'],
    );
    assert.equal(new Set(told.map(({ key }) => key)).size, 35);
    // The program of an edge has a small checker of its own, which refuses what it does not know.
    told.forEach(({ schema }) => new EdgeAjv({ useDefaults: true }).compile(schema)({}));
    const filled = {};
    assert.equal(
      new EdgeAjv({ useDefaults: true }).compile(
        told.find(({ key }) => key === 'processes')!.schema,
      )(filled),
      true,
    );
    assert.deepEqual(filled, { top: 30, sort_by: 'cpu' });
    assert.ok(
      told.every(
        ({ scope, schema, tier, description }) =>
          scope === 'edge' &&
          schema['type'] === 'object' &&
          tier !== undefined &&
          description !== '',
      ),
    );
  });

  await t.test('processes, sockets and networks are those of this machine', async () => {
    const { result: listed } = await run('processes', { top: 500, sort_by: 'mem' });
    assert.ok(
      (field(listed, 'processes') as { pid: number }[]).some(({ pid }) => pid === process.pid),
    );
    const port = await listening(t, createServer());
    const { result: open } = await run('sockets', { port });
    const [row] = field(open, 'sockets') as Record<string, unknown>[];
    assert.deepEqual(
      [row!['local_address'], row!['local_port'], row!['state'], row!['pid']],
      ['127.0.0.1', port, 'listen', process.pid],
    );
    const { result: spaces } = await run('network_namespaces');
    const all = field(spaces, 'namespaces') as { interfaces: string[]; processes: number }[];
    assert.ok(all.some(({ interfaces, processes }) => processes > 0 && interfaces.includes('lo')));
  });

  await t.test(
    'the journal is read with fixed arguments, oldest first, and can be read on',
    async () => {
      const since = '2026-01-01T00:00:00.000001Z';
      const answer = await run('journal', { unit: 'a.service', lines: 2, since });
      assert.deepEqual(
        (field(answer.result, 'entries') as Record<string, unknown>[]).map(
          ({ at, message, priority, unit }) => [at, message, priority, unit],
        ),
        [
          ['2023-11-14T22:13:21.000001Z', 'für�', null, null],
          ['2023-11-14T22:13:22.000002Z', 'second', 3, 'a.service'],
        ],
      );
      const until = answer.read_on!.params['until'];
      assert.equal(until, '2023-11-14T22:13:21.000001Z');
      await run('journal', { until });
      const [first, second] = said('journal.args');
      assert.equal(
        first,
        '--reverse --all --output=json --quiet --no-pager --lines=2 --priority=7 --unit=a.service --since=@1767225600.000001',
      );
      assert.match(second!, /--until=@1700000001\.000001$/);
      await assert.rejects(run('journal', { unit: '--file=/etc/shadow' }), /unit must match/);
      policy.skills = { ...policy.skills, paths: [] };
      await assert.rejects(run('journal'), /does not allow reading its journal/);
    },
  );

  await t.test(
    'a port is tried, and what it says is told without what moves a cursor',
    async () => {
      const port = await listening(
        t,
        createServer((socket) => socket.end('220 hi\u001b[2J\n')),
      );
      const { result: open } = await run('tcp_probe', { host: '127.0.0.1', port, banner: true });
      assert.deepEqual([field(open, 'connected'), field(open, 'banner')], [true, '220 hi�[2J\n']);
      const { result: shut } = await run('tcp_probe', { host: '127.0.0.1', port: 1 });
      assert.deepEqual([field(shut, 'connected'), field(shut, 'error')], [false, 'ECONNREFUSED']);
      const deaf = await listening(t, createServer());
      const { result: silent } = await run('tcp_probe', {
        host: '127.0.0.1',
        port: deaf,
        banner: true,
      });
      assert.deepEqual([field(silent, 'connected'), field(silent, 'banner')], [true, '']);
    },
  );

  await t.test(
    'a page is asked for without credentials; redirects are told, cookies hidden, bodies bounded',
    async () => {
      const seen: unknown[] = [];
      const server = createHttp((request, reply) => {
        seen.push([
          request.method,
          request.url,
          request.headers['host'],
          request.headers['authorization'],
        ]);
        reply.writeHead(302, {
          location: 'http://169.254.169.254/',
          'set-cookie': 'session=secret',
        });
        reply.write('x'.repeat(100_000));
      });
      t.after(() => server.closeAllConnections());
      const port = await listening(t, server);
      const { result } = await run('http_probe', {
        url: `http://127.0.0.1:${port}/a?b=1`,
        body_bytes: 10,
      });
      assert.deepEqual(
        [field(result, 'status'), field(result, 'body'), field(result, 'body_truncated')],
        [302, 'xxxxxxxxxx', true],
      );
      const headers = field(result, 'headers');
      assert.deepEqual(
        [field(headers, 'location'), field(headers, 'set-cookie')],
        ['http://169.254.169.254/', '[redacted]'],
      );
      assert.deepEqual(seen, [['GET', '/a?b=1', `127.0.0.1:${port}`, undefined]]);
      await assert.rejects(
        run('http_probe', { url: `http://user:pass@127.0.0.1:${port}/` }),
        /must not contain a user name or a password/,
      );
      const { result: dead } = await run('http_probe', { url: 'https://127.0.0.1:1/' });
      assert.deepEqual([field(dead, 'answered'), field(dead, 'error')], [false, 'ECONNREFUSED']);
    },
  );

  await t.test('names are asked of a server that is allowed, and hosts are pinged', async () => {
    const port = await nameServer(t);
    const { result } = await run('dns_probe', {
      name: 'a.example',
      server: '127.0.0.1',
      server_port: port,
    });
    assert.deepEqual([field(result, 'found'), field(result, 'records')], [true, ['192.0.2.7']]);
    const { result: echoed } = await run('ping', { host: '127.0.0.1' });
    assert.deepEqual(
      [field(echoed, 'sent'), field(echoed, 'received'), field(echoed, 'avg_ms')],
      [3, 2, 0.052],
    );
    await assert.rejects(
      run('dns_probe', { name: 'a.example', server: '192.0.2.1' }),
      /does not allow 192\.0\.2\.1:53/,
    );
    await assert.rejects(run('ping', { host: '192.0.2.1' }), /does not allow 192\.0\.2\.1/);
    policy.skills = { ...policy.skills, probes: [] };
    await assert.rejects(run('dns_probe', { name: 'a.example' }), /does not allow any probes/);
  });

  await t.test(
    'a service that is listed is restarted, by its own method only; others are not',
    async () => {
      const { result } = await run('service_restart', { service: 'web' }, { change: true });
      assert.deepEqual(
        [field(result, 'service'), field(result, 'active_state'), field(result, 'main_pid')],
        ['web.service', 'active', 4711],
      );
      assert.equal(said('systemctl.args')[0], 'restart --no-ask-password -- web.service');
      const failed = await run('service_restart', { service: 'bad' }, { change: true });
      assert.deepEqual(
        [failed.status, failed.error!.message],
        ['error', 'The restart of bad.service failed with code 1: Job for bad.service failed.'],
      );
      await assert.rejects(
        run('service_restart', { service: 'ssh' }, { change: true }),
        /does not allow restarting ssh\.service/,
      );
      await assert.rejects(
        run('service_restart', { service: 'web' }),
        /is mutating; it needs skill_change/,
      );
      await assert.rejects(
        run('processes', {}, { change: true }),
        /is safe; it needs skill_execute/,
      );
      await assert.rejects(
        run('service_restart', { service: '--help' }, { change: true }),
        /service must match/,
      );
      assert.equal(said('systemctl.args').filter((line) => line.startsWith('restart')).length, 2);
    },
  );

  await t.test('what does not fit is refused before anything is done', async () => {
    await assert.rejects(run('none'), /has no skill none/);
    await assert.rejects(
      run('processes', { top: 0 }),
      /the params of processes are invalid: \/top/,
    );
    await assert.rejects(run('processes', { shell: 'sh' }), /must NOT have additional properties/);
    await assert.rejects(run('file_tail'), /required property 'path'/);
  });

  await t.test(
    'a time that is over is told as such, and whoever has no patience takes the call back',
    async () => {
      writeFileSync(join(programs, 'ping'), '#!/bin/sh\nexec sleep 60\n');
      policy.skills = { ...policy.skills, probes: ['127.0.0.0/8:*'] };
      const late = await run('ping', { host: '127.0.0.1' }, { timeoutMs: 300 });
      assert.deepEqual(
        [late.status, late.result, late.error!.message],
        ['timeout', null, 'ping did not end within 300 ms'],
      );
      const taken = new AbortController();
      const waiting = run('ping', { host: '127.0.0.1' }, { signal: taken.signal });
      taken.abort();
      await assert.rejects(waiting, /ping was cancelled/);
    },
  );

  await t.test('the owner can switch all of it off', async () => {
    policy.skills = { ...policy.skills, enabled: false };
    assert.deepEqual(await list(), []);
    await assert.rejects(run('processes'), /does not allow skills/);
  });

  await t.test('everything was written down before and after, refusals too', () => {
    const lines = log();
    const of = (key: string) =>
      lines.filter((line) => line.key === key).map(({ event, status }) => status ?? event);
    assert.deepEqual(of('service_restart'), [
      'begin',
      'ok',
      'begin',
      'error',
      'begin',
      'denied',
      'begin',
      'refused',
      'begin',
      'refused',
    ]);
    assert.deepEqual(of('none'), ['begin', 'refused']);
    assert.equal(new Set(lines.map((line) => line.audit_id)).size * 2, lines.length);
    assert.equal(JSON.stringify(lines).includes('user:pass@'), false);
    assert.equal(
      statSync(join(edge.dataDir, 'plugins/edge-skills/skills.log')).mode & 0o777,
      0o600,
    );
  });
});

test('addresses are allowed as the owner wrote, near ones only by name, those of the cloud never', async () => {
  const table: Readonly<Record<string, string>> = {
    'db.example.org': '10.0.0.5',
    'rebind.example.org': '127.0.0.1',
    'meta.example.org': '169.254.169.254',
    localhost: '127.0.0.1',
  };
  const allowed = async (
    probes: readonly string[],
    host: string,
    port?: number,
  ): Promise<boolean> => {
    const rules = new ProbeRules(policyOf({ probes }), async (name) => [
      { address: table[name]!, family: 4 },
    ]);
    return rules.target(host, port).then(
      () => true,
      () => false,
    );
  };
  const cases: readonly (readonly [readonly string[], string, number | undefined, boolean])[] = [
    [['*:*'], 'db.example.org', 5432, true],
    [['*:*'], '192.0.2.1', undefined, true],
    [['*:*'], '2001:db8::1', 443, true],
    [['*:*'], '127.0.0.1', 80, false],
    [['*:*'], '[::1]', 80, false],
    [['*:*'], '::ffff:127.0.0.1', 80, false],
    [['*:*'], '64:ff9b::7f00:1', 80, false],
    [['*:*'], 'rebind.example.org', 80, false],
    [['*:*'], 'localhost', 80, false],
    [['*:*'], '169.254.169.254', 80, false],
    [['*:*'], '0.0.0.0', 80, false],
    [['*:*'], '224.0.0.1', undefined, false],
    [['169.254.0.0/16:*', '*:80'], '169.254.169.254', 80, false],
    [['169.254.0.0/16:*'], 'meta.example.org', 80, false],
    [['[::/0]:*', '[::ffff:0:0/96]:*'], '::ffff:169.254.169.254', 80, false],
    [['169.254.0.0/16:*'], '169.254.1.1', 80, true],
    [['127.0.0.1:8000-8999'], '127.0.0.1', 8080, true],
    [['127.0.0.1:8000-8999'], '127.0.0.1', 80, false],
    [['127.0.0.1:8080'], '127.0.0.1', undefined, false],
    [['localhost:80'], 'localhost', 80, true],
    [['*.example.org:5432'], 'DB.example.org', 5432, true],
    [['*.example.org:5432'], '10.0.0.5', 5432, false],
    [['*.example.org:*'], 'rebind.example.org', 80, false],
    [['10.0.0.0/8:5432'], 'db.example.org', 5432, true],
    [['10.0.0.0/8:5432'], '11.0.0.1', 5432, false],
    [['[fd00::/8]:*'], 'fd00::7', 80, true],
    [[], '192.0.2.1', 80, false],
  ];
  for (const [probes, host, port, expected] of cases) {
    assert.equal(
      await allowed(probes, host, port),
      expected,
      `${probes.join(' ')} asked for ${host}:${port}`,
    );
  }
});

test('the log hides secrets, keeps five files, and nothing is done when it cannot be written', async (t) => {
  const { root } = folderOf(t);
  const file = join(root, 'skills.log');
  const log = new SkillLog(file);
  const line = { at: 'now', event: 'begin', audit_id: 'a', key: 'k' } as const;
  await log.append(
    {
      ...line,
      params: { password: 'p1', nested: { url: 'https://u:p2@host/' }, long: 'x'.repeat(10_000) },
    },
    true,
  );
  const text = readFileSync(file, 'utf8');
  assert.ok(!/p1|p2/.test(text) && text.length < 1_000, text);
  for (let i = 1; i <= 7; i++) {
    writeFileSync(file, `${i}${'x'.repeat(4 * 1024 * 1024)}`);
    await log.append(line, false);
  }
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((n) =>
      existsSync(`${file}.${n}`) ? readFileSync(`${file}.${n}`, 'utf8')[0] : null,
    ),
    ['7', '6', '5', '4', null],
  );

  const { edge, run } = await skilledEdge(t, policyOf({}));
  assert.equal((await run('processes')).status, 'ok');
  const kept = join(edge.dataDir, 'plugins/edge-skills/skills.log');
  rmSync(kept);
  symlinkSync('/dev/null', kept);
  await assert.rejects(run('processes'), /Failed to write to this machine's skill log/);
});
