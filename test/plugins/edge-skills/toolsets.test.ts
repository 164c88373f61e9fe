import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServer } from 'node:tls';

import { peer } from '../../peers.ts';
import { certificate } from '../lib/tunnel/certificate.ts';
import { engineOf } from './engine.ts';
import { folderOf, policyOf, programsOf, skilledEdge } from './machine.ts';

type Row = Readonly<Record<string, unknown>>;

const rowsOf = (result: unknown, name: string): readonly Row[] =>
  (result as Readonly<Record<string, readonly Row[]>>)[name]!;

test('units, timers, packages, the kernel and logins are told as this machine tells them', async (t) => {
  const programs = programsOf(t, {
    systemctl: `echo "$@" >> "$(dirname "$0")/args"
case "$*" in
  *list-units*--type=timer*) echo 'apt-daily.timer loaded active waiting Daily apt download activities';;
  *list-units*) echo 'ssh.service loaded active running OpenBSD Secure Shell server'; printf '\\342\\227\\217 web.service loaded failed failed The shop\\n';;
  *'*.timer'*) printf 'Id=apt-daily.timer\\nUnit=apt-daily.service\\nLastTriggerUSec=Sun 2026-11-29 06:12:00 UTC\\nNextElapseUSecRealtime=Mon 2026-11-30 06:20:11 UTC\\n';;
  *) printf 'Id=web.service\\nDescription=The shop\\nLoadState=loaded\\nActiveState=failed\\nSubState=failed\\nResult=exit-code\\nExecMainCode=1\\nExecMainStatus=203\\nNRestarts=5\\nStateChangeTimestamp=Sun 2026-11-29 12:00:01 UTC\\nActiveEnterTimestamp=\\nRequires=a.mount b.service\\nNeedDaemonReload=yes\\n';;
esac`,
    journalctl: `case "$*" in *--dmesg*)
printf '%s\\n' '{"__REALTIME_TIMESTAMP":"1700000002000002","MESSAGE":"Out of memory: Killed process 4711 (node) total-vm:1kB","PRIORITY":"3"}'
printf '%s\\n' '{"__REALTIME_TIMESTAMP":"1700000001000001","MESSAGE":"eth0: link up","PRIORITY":"6"}';;
*) printf '%s\\n' '{"__REALTIME_TIMESTAMP":"1700000002000002","MESSAGE":"/srv/web: No such file or directory","_SYSTEMD_UNIT":"web.service","PRIORITY":"3"}';; esac`,
    who: `echo 'ann      pts/0        Nov 29 23:41 00:05        1234 (192.0.2.7)'`,
    last: `echo 'ann      pts/1        192.0.2.7        Sun Nov 29 23:41:32 2026 - Sun Nov 29 23:51:33 2026  (00:10)'
echo 'reboot   system boot  6.1.0            Sun Nov 29 12:25:47 2026   still running'; echo; echo 'wtmp begins Sun Nov 29 12:25:47 2026'`,
    'apt-get': `printf '%s\\n' 'Inst vim [9.0-1] (9.0-2 Debian:12/stable [amd64])' 'Inst curl [7.88.1-1] (7.88.1-2 Debian-Security:12/stable-security [amd64])' 'Conf curl (7.88.1-2 Debian-Security:12/stable-security [amd64])'`,
    traceroute: `echo 'traceroute to 192.0.2.9'; echo ' 1  10.0.0.1  0.512 ms'; echo ' 2  *'; echo ' 3  192.0.2.9  9.1 ms'`,
  });
  const policy = policyOf({ paths: ['/var/log/**'], probes: ['*:*'] });
  const { run } = await skilledEdge(t, policy);

  const { result: units } = await run('units_list', {});
  assert.deepEqual(
    rowsOf(units, 'units').map(({ unit, active, description }) => [unit, active, description]),
    [
      ['web.service', 'failed', 'The shop'],
      ['ssh.service', 'active', 'OpenBSD Secure Shell server'],
    ],
  );
  const { result: timers } = await run('units_list', { type: 'timer' });
  assert.deepEqual(rowsOf(timers, 'units')[0], {
    unit: 'apt-daily.timer',
    load: 'loaded',
    active: 'active',
    sub: 'waiting',
    description: 'Daily apt download activities',
    runs: 'apt-daily.service',
    last_run: '2026-11-29T06:12:00Z',
    next_run: '2026-11-30T06:20:11Z',
  });

  const { result } = await run('unit_get', { unit: 'web' });
  const unit = result as Row;
  assert.deepEqual(
    [
      unit['unit'],
      unit['result'],
      unit['ended_by'],
      unit['exit_status'],
      unit['restarts'],
      unit['changed_at'],
    ],
    ['web.service', 'exit-code', 'exited', 203, 5, '2026-11-29T12:00:01Z'],
  );
  assert.equal(rowsOf(unit, 'log')[0]!['message'], '/srv/web: No such file or directory');
  await assert.rejects(run('unit_get', { unit: '--help' }), /unit must match/);
  assert.match(readFileSync(join(programs, 'args'), 'utf8'), /^show .* -- web\.service$/m);

  const { result: kernel } = await run('kernel_log', {});
  assert.deepEqual(
    rowsOf(kernel, 'messages').map(({ message }) => message),
    ['eth0: link up', 'Out of memory: Killed process 4711 (node) total-vm:1kB'],
  );
  assert.equal(rowsOf(kernel, 'oom').length, 1);

  const { result: people } = await run('logins', {});
  assert.deepEqual(rowsOf(people, 'now')[0], {
    user: 'ann',
    terminal: 'pts/0',
    since: 'Nov 29 23:41',
    idle: '00:05',
    pid: 1234,
    from: '192.0.2.7',
  });
  assert.deepEqual(
    rowsOf(people, 'last').map(({ user, until, state }) => [user, until, state]),
    [
      ['ann', '2026-11-29T23:51:33Z', 'ended'],
      ['reboot', null, 'still running'],
    ],
  );

  const { result: pending } = await run('packages_pending', {});
  assert.deepEqual(
    rowsOf(pending, 'updates').map(({ name, available, security }) => [name, available, security]),
    [
      ['curl', '7.88.1-2', true],
      ['vim', '9.0-2', false],
    ],
  );
  const { result: route } = await run('traceroute', { host: '192.0.2.9' });
  assert.deepEqual(
    rowsOf(route, 'hops').map(({ hop, address, ms }) => [hop, address, ms]),
    [
      [1, '10.0.0.1', 0.512],
      [2, null, null],
      [3, '192.0.2.9', 9.1],
    ],
  );

  // The owner decides what is looked at, kind by kind.
  policy.skills = { ...policy.skills, views: ['packages'] };
  await assert.rejects(
    run('units_list', {}),
    /does not allow viewing systemd units; the machine.s owner can add "units"/,
  );
  await assert.rejects(run('logins', {}), /"skills\.profile" to observe/);
});

test('a machine without systemd, and its packages, answer in words and as they are', async (t) => {
  const { root, write } = folderOf(t);
  const { run } = await skilledEdge(
    t,
    policyOf({ measure: [`${root}/**`], paths: [`${root}/**`] }),
  );
  // Real programs of this machine: systemd is not PID 1 here.
  const answer = await run('units_list', {});
  assert.ok(
    answer.status === 'ok' || /systemctl failed with code 1: .*systemd/.test(answer.error!.message),
    JSON.stringify(answer),
  );
  const { result: packages } = await run('packages_list', { name: 'git' });
  assert.match(
    String(rowsOf(packages, 'packages').find(({ name }) => name === 'git')!['version']),
    /^1:\d/,
  );
  assert.equal((await run('packages_history', {})).status, 'ok');
  assert.equal((await run('cron_list', {})).status, 'ok');
  assert.equal((await run('logins', { last: 0 })).status, 'ok');

  const git = peer(t, 'git');
  if (git === undefined) {
    return;
  }
  const repository = join(root, 'etc');
  mkdirSync(repository);
  const commit = (message: string): void => {
    const named = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'];
    execFileSync(git, ['-C', repository, 'add', '-A']);
    execFileSync(git, ['-C', repository, ...named, 'commit', '-qm', message]);
  };
  execFileSync(git, ['init', '-q', repository]);
  write('etc/nginx.conf', 'worker_connections 512;\n');
  write('etc/shadow', 'root:x\n');
  commit('first');
  write('etc/nginx.conf', 'worker_connections 16;\n');
  write('etc/shadow', 'root:y\n');
  commit('fewer connections');
  // What a repository says is to be run is not run.
  appendFileSync(
    join(repository, '.git/config'),
    `[core]\n fsmonitor = touch ${root}/owned\n[diff]\n external = touch ${root}/owned\n[log]\n showSignature = true\n`,
  );
  const { run: ask } = await skilledEdge(
    t,
    policyOf({ measure: [`${root}/**`], paths: [`${repository}/nginx.conf`] }),
  );
  const { result: history } = await ask('git_log', { path: repository });
  assert.deepEqual(
    rowsOf(history, 'commits').map(({ subject, author, files }) => [
      subject,
      author,
      (files as Row[]).length,
    ]),
    [
      ['fewer connections', 'Ann', 2],
      ['first', 'Ann', 2],
    ],
  );
  const { result: shown } = await ask('git_show', { path: repository });
  assert.deepEqual((shown as Row)['not_allowed'], ['shadow']);
  assert.match(
    String((shown as Row)['diff']),
    /-worker_connections 512;\n\+worker_connections 16;/,
  );
  assert.equal(String((shown as Row)['diff']).includes('root:'), false);
  await assert.rejects(
    ask('git_log', { path: repository, file: '--output=/tmp/x' }),
    /file must match/,
  );
  await assert.rejects(
    ask('git_show', { path: repository, commit: '--output=x' }),
    /commit must match/,
  );
  await assert.rejects(ask('git_log', { path: '/root' }), /"skills\.measure" in policy\.yaml/);
  assert.equal(
    execFileSync('find', [root, '-name', 'owned'], { encoding: 'utf8' }),
    '',
    'nothing of the repository was run',
  );
});

test('a certificate is shown with its days left, of this machine too, but nothing else near is asked', async (t) => {
  const server = createServer(certificate(t, 'shop.example'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const policy = policyOf({ probes: ['*:*'] });
  const { run } = await skilledEdge(t, policy);
  const { result } = await run('tls_probe', {
    host: '127.0.0.1',
    port,
    server_name: 'shop.example',
  });
  const { days_left: days, trusted, problem, chain } = result as Row;
  assert.deepEqual([days, trusted, problem], [1, false, 'DEPTH_ZERO_SELF_SIGNED_CERT']);
  assert.deepEqual(
    (chain as Row[]).map(({ subject, names, days_left }) => [subject, names, days_left]),
    [['shop.example', 'DNS:shop.example', 1]],
  );
  await assert.rejects(run('http_probe', { url: `https://127.0.0.1:${port}/` }), /does not allow/);
  await assert.rejects(run('tls_probe', { host: '169.254.169.254' }), /does not allow/);
  policy.skills = { ...policy.skills, probes: ['10.0.0.0/8:443'] };
  await assert.rejects(run('tls_probe', { host: '127.0.0.1', port }), /does not allow/);
});

test('containers are listed by their restarts, and tell no values of variables', async (t) => {
  const { socket, refused } = await engineOf(t);
  const policy = policyOf({ containers: ['/nowhere/docker.sock', socket] });
  const { run } = await skilledEdge(t, policy);
  const { result } = await run('containers_list', {});
  assert.deepEqual(
    rowsOf(result, 'containers').map((row) => [
      row['name'],
      row['state'],
      row['restarts'],
      row['exit_code'],
      row['out_of_memory'],
      row['started_at'],
    ]),
    [
      ['web', 'restarting', 48, 137, true, null],
      ['db', 'running', 0, 0, false, null],
    ],
  );
  const { result: one } = await run('container_get', { container: 'web' });
  const { variables, command, labels, memory_limit_bytes: limit, cpu_limit: cpus } = one as Row;
  assert.deepEqual(
    [variables, limit, cpus, (labels as Row)['deploy_token']],
    [['PATH', 'DB_PASSWORD'], 268_435_456, 0.5, '[redacted]'],
  );
  assert.equal(command, 'node server.js --api-key [redacted]');
  assert.equal(JSON.stringify(one).includes('hunter2'), false);
  const { result: log } = await run('container_logs', { container: 'web', lines: 2 });
  assert.deepEqual((log as Row)['lines'], [
    '2026-11-29T11:59:58Z allocating',
    '2026-11-29T11:59:59Z �[31mJavaScript heap out of memory�[0m',
  ]);
  const { result: stats } = await run('container_stats', {});
  assert.deepEqual(rowsOf(stats, 'containers')[0], {
    name: 'db',
    cpu_percent: 40,
    memory_bytes: 800_000,
    memory_limit_bytes: 4_000_000,
    received_bytes: 5,
    sent_bytes: 6,
    processes: 9,
  });
  assert.deepEqual(refused, []);
  await assert.rejects(run('container_get', { container: 'none' }), /There is no container none/);
  await assert.rejects(
    run('container_get', { container: '../images/json' }),
    /container must match/,
  );
  policy.skills = { ...policy.skills, containers: ['/nowhere/docker.sock'] };
  const away = await run('containers_list', {});
  assert.match(
    away.error!.message,
    /No container engine is responding on this machine: \/nowhere\/docker\.sock \(ENOENT\)/,
  );
});

test('a cluster is looked at with kubectl, the kubeconfig of the owner and nothing that holds secrets', async (t) => {
  const pods = {
    items: [
      {
        metadata: { namespace: 'shop', name: 'ok-1', creationTimestamp: '2026-11-29T00:00:00Z' },
        spec: { nodeName: 'n1' },
        status: {
          phase: 'Running',
          containerStatuses: [{ name: 'c', ready: true, restartCount: 0, state: { running: {} } }],
        },
      },
      {
        metadata: { namespace: 'shop', name: 'web-1' },
        spec: { nodeName: 'n1' },
        status: {
          phase: 'Running',
          containerStatuses: [
            {
              name: 'web',
              ready: false,
              restartCount: 12,
              state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
              lastState: {
                terminated: {
                  reason: 'OOMKilled',
                  exitCode: 137,
                  finishedAt: '2026-11-29T12:00:00Z',
                },
              },
            },
          ],
        },
      },
    ],
  };
  const programs = programsOf(t, {
    kubectl: `echo "$@" >> "$(dirname "$0")/args"
case "$1 $2" in
  'get pods') cat <<'JSON'
${JSON.stringify(pods)}
JSON
;;
  'get events') echo '{"items":[{"lastTimestamp":"2026-11-29T12:00:00Z","type":"Warning","reason":"BackOff","involvedObject":{"kind":"Pod","name":"web-1","namespace":"shop"},"count":7,"message":"Back-off restarting"}]}';;
  'describe '*) echo 'Name: web-1'; echo 'DB_PASSWORD: --password hunter2x';;
  'logs '*) echo '2026-11-29T12:00:00Z last words';;
  'top '*) echo 'shop web-1 900m 250Mi';;
  *) echo "Error from server (Forbidden)" >&2; exit 1;;
esac`,
  });
  const policy = policyOf({ kubeconfig: '/etc/svc-edge/kubeconfig' });
  const { run } = await skilledEdge(t, policy);
  const { result } = await run('kubernetes_get', { kind: 'pods' });
  const [first] = rowsOf(result, 'objects');
  assert.deepEqual(
    [first!['name'], first!['trouble'], first!['restarts']],
    ['web-1', 'CrashLoopBackOff', 12],
  );
  const { result: events } = await run('kubernetes_events', { object: 'web-1' });
  assert.equal(rowsOf(events, 'events')[0]!['count'], 7);
  assert.match(
    JSON.stringify((await run('kubernetes_describe', { kind: 'pods', name: 'web-1' })).result),
    /Name: web-1/,
  );
  assert.deepEqual(
    ((await run('kubernetes_logs', { name: 'web-1', previous: true })).result as Row)['lines'],
    ['2026-11-29T12:00:00Z last words'],
  );
  assert.deepEqual(rowsOf((await run('kubernetes_top', {})).result, 'rows')[0], {
    namespace: 'shop',
    name: 'web-1',
    cpu: '900m',
    memory: '250Mi',
  });
  const said = readFileSync(join(programs, 'args'), 'utf8').trim().split('\n');
  assert.equal(
    said[0],
    'get pods --all-namespaces --output=json --kubeconfig=/etc/svc-edge/kubeconfig --request-timeout=15s',
  );
  await assert.rejects(run('kubernetes_get', { kind: 'secrets' }), /kind must be equal to one of/);
  await assert.rejects(
    run('kubernetes_describe', { kind: 'pods', name: '--as=root' }),
    /name must match/,
  );
  policy.skills = { ...policy.skills, kubeconfig: undefined };
  await assert.rejects(run('kubernetes_get', { kind: 'pods' }), /skills\.kubeconfig/);
});
