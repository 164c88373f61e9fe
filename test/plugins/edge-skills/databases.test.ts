import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { peer } from '../../peers.ts';
import { until } from '../edge/house.ts';
import { policyOf, programsOf, skilledEdge } from './machine.ts';

type Row = Readonly<Record<string, unknown>>;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Starts a program for the time of a test. */
function daemon(
  t: TestContext,
  file: string,
  args: readonly string[],
  options: object,
): ChildProcess {
  const child = spawn(file, [...args], { stdio: 'ignore', ...options });
  t.after(async () => {
    child.kill('SIGKILL');
    await (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined);
  });
  return child;
}

/** PostgreSQL refuses to run as root: there it runs as the user of its package. */
function servant(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid!() !== 0) {
    return {};
  }
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
  ) as [number, number];
  chownSync(folder, uid, gid);
  return { uid, gid };
}

test('PostgreSQL tells its sessions, who waits for whom, lags and sizes', async (t) => {
  const psql = peer(t, 'psql');
  if (psql === undefined) {
    return;
  }
  const newest = readdirSync('/usr/lib/postgresql')
    .sort((a, b) => Number(a) - Number(b))
    .at(-1)!;
  const bin = `/usr/lib/postgresql/${newest}/bin`;
  const root = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o755);
  const options = { ...servant(root), cwd: root };
  const port = await freePort();
  const data = join(root, 'data');
  execFileSync(`${bin}/initdb`, ['-D', data, '-U', 'watch', '-A', 'trust', '--no-sync'], {
    ...options,
    stdio: 'ignore',
  });
  daemon(
    t,
    `${bin}/postgres`,
    ['-D', data, '-p', `${port}`, '-k', root, '-h', '127.0.0.1', '-F'],
    options,
  );
  const sql = (text: string): string =>
    execFileSync(
      psql,
      ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'watch', '-Atc', text, 'postgres'],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
  await until('the database answers', () => {
    try {
      return sql('select 1').trim() === '1';
    } catch {
      return false;
    }
  });
  sql('create table orders (id int); insert into orders values (1)');
  const session = (text: string): ChildProcess =>
    daemon(
      t,
      psql,
      ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'watch', '-c', text, 'postgres'],
      {},
    );
  session('begin; update orders set id = 2; select pg_sleep(60)');
  await until(
    'a session holds the row',
    () =>
      sql(
        "select count(*) from pg_stat_activity where query like '%pg_sleep(60)' and pid <> pg_backend_pid()",
      ).trim() === '1',
  );
  session("update orders set id = 3 /* password = 'hunter2' */");
  await until(
    'another waits for it',
    () => sql('select count(*) from pg_locks where not granted').trim() !== '0',
  );

  const policy = policyOf({
    databases: [`main=postgres://watch:unused@127.0.0.1:${port}/postgres`, 'other=mysql://a:b@h/d'],
  });
  const { run } = await skilledEdge(t, policy);
  const rows = async (view: string): Promise<readonly Row[]> => {
    const answer = await run('database_view', { database: 'main', view });
    assert.equal(answer.status, 'ok', JSON.stringify(answer.error));
    return (answer.result as { rows: readonly Row[] }).rows;
  };
  const [lock] = await rows('locks');
  assert.match(String(lock!['blocking_query']), /pg_sleep/);
  assert.match(String(lock!['waiting_query']), /^update orders set id = 3/);
  assert.equal(JSON.stringify(lock).includes('hunter2'), false);
  assert.equal((await rows('activity')).length, 2);
  assert.ok(
    (await rows('size')).some(
      ({ database, bytes }) => database === 'postgres' && Number(bytes) > 1e6,
    ),
  );
  assert.equal((await rows('tables'))[0]!['table'], 'orders');
  assert.deepEqual(await rows('replication'), []);
  assert.ok(Array.isArray(await rows('slow')));
  await assert.rejects(run('database_view', { view: 'locks' }), /it lists main, other/);
  await assert.rejects(
    run('database_view', { database: 'main', view: "x'; drop table orders" }),
    /view must be/,
  );
});

test('Redis tells its clients, memory and slow commands without their arguments; MySQL by its client', async (t) => {
  const server = peer(t, 'redis-server');
  if (server === undefined) {
    return;
  }
  const port = await freePort();
  const root = mkdtempSync(join(tmpdir(), 'svc-redis-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const given = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', root];
  daemon(
    t,
    server,
    [...given, '--requirepass', 'open sesame', '--slowlog-log-slower-than', '0'],
    {},
  );
  const redis = (...args: readonly string[]): string =>
    execFileSync('redis-cli', ['-p', `${port}`, ...args], {
      encoding: 'utf8',
      env: { ...process.env, REDISCLI_AUTH: 'open sesame' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  await until('Redis answers', () => {
    try {
      return redis('ping').trim() === 'PONG';
    } catch {
      return false;
    }
  });
  redis('set', 'card', '4111111111111111');
  programsOf(t, {
    mysql: `[ "$MYSQL_PWD" = 'p w' ] || exit 3
[ "$*" = '--no-defaults --batch --connect-timeout=5 --host=db.example --port=3306 --user=watch' ] || exit 4
read -r first; case "$first" in 'set session transaction read only; select id'*) ;; *) exit 5;; esac
printf 'id\\tuser\\tquery\\n7\\tapp\\tNULL\\n'`,
  });
  const { run } = await skilledEdge(
    t,
    policyOf({
      databases: [
        `cache=redis://:open%20sesame@127.0.0.1:${port}`,
        'shop=mysql://watch:p%20w@db.example/shop',
      ],
    }),
  );
  const rows = async (database: string, view: string): Promise<readonly Row[]> => {
    const answer = await run('database_view', { database, view });
    assert.equal(answer.status, 'ok', JSON.stringify(answer.error));
    return (answer.result as { rows: readonly Row[] }).rows;
  };
  assert.equal((await rows('cache', 'size'))[0]!['db0'], 'keys=1,expires=0,avg_ttl=0');
  assert.ok((await rows('cache', 'activity')).some(({ cmd }) => String(cmd).startsWith('client')));
  assert.equal((await rows('cache', 'replication'))[0]!['role'], 'master');
  const slow = await rows('cache', 'slow');
  assert.ok(
    slow.some(({ command }) => command === 'SET'),
    JSON.stringify(slow),
  );
  assert.equal(JSON.stringify(slow).includes('4111'), false);
  assert.deepEqual(await rows('shop', 'activity'), [{ id: '7', user: 'app', query: null }]);
  await assert.rejects(
    run('database_view', { database: 'cache', view: 'locks' }),
    /redis has no view locks/,
  );
});
