// A cluster of Postgres for one run of the tests, which forgets everything when the run ends.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const startMs = 60_000;

/** Starts what `SVC_TEST_DATABASE=postgres` asks for in `folder`; returns what tests find it by, and its end. */
export async function postgresFor(folder, environment) {
  if (environment.SVC_TEST_DATABASE !== 'postgres') {
    return { env: {}, end() {} };
  }
  const own = join(folder, 'postgres');
  mkdirSync(own);
  const user = asUser(own);
  const [port, pooled] = [await freePort(), await freePort()];
  const server = await startServer(own, port, user, environment);
  const end = () => [pooler, server].forEach((child) => child?.kill('SIGQUIT'));
  let pooler;
  try {
    pooler =
      environment.SVC_TEST_PGBOUNCER === '1'
        ? await startPooler(own, port, pooled, user)
        : undefined;
  } catch (error) {
    end();
    throw error;
  }
  return {
    env: {
      SVC_TEST_POSTGRES_PORT: String(port),
      SVC_TEST_POSTGRES_WAY: String(pooler === undefined ? port : pooled),
    },
    end,
  };
}

/** Postgres does not run as root. */
export function asUser(folder) {
  if (process.getuid() !== 0) {
    return {};
  }
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
  );
  chownSync(folder, uid, gid);
  return { uid, gid };
}

/** Starts the server of a folder, which it makes at the first time. */
export async function startServer(folder, port, user, environment = {}) {
  const bin = programs(environment.SVC_TEST_POSTGRES ?? '15');
  const data = join(folder, 'data');
  if (!existsSync(data)) {
    execFileSync(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
      { ...user, cwd: folder, stdio: 'pipe' },
    );
  }
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=500',
    'shared_buffers=64MB',
    'fsync=off',
    'full_page_writes=off',
    'autovacuum=off',
  ];
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await answers(server, port);
  return server;
}

/** Debian's server of a version, or another one, of whose programs the folder is given. */
function programs(asked) {
  const folder = asked.startsWith('/') ? asked : `/usr/lib/postgresql/${asked}/bin`;
  if (!existsSync(join(folder, 'initdb'))) {
    throw new Error(`There is no Postgres in ${folder}: install Debian's postgresql.`);
  }
  return folder;
}

/** Starts pgbouncer, which gives each transaction another session. */
export async function startPooler(folder, port, pooled, user) {
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${port} user=svc`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${pooled}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'max_client_conn = 2000',
      'default_pool_size = 8',
      '',
    ].join('\n'),
  );
  const pooler = spawn('/usr/sbin/pgbouncer', ['-q', file], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await answers(pooler, pooled);
  return pooler;
}

/** Returns a port that nobody listens at now. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answers(child, port) {
  let said = '';
  child.stderr.on('data', (text) => (said = (said + String(text)).slice(-4_000)));
  for (const since = performance.now(); performance.now() - since < startMs; await pause(50)) {
    if (child.exitCode !== null) {
      break;
    }
    // A server that recovers listens before it takes anybody.
    const isReady = child.spawnfile.endsWith('pgbouncer') || /ready to accept/.test(said);
    if (isReady && (await connects(port))) {
      return;
    }
  }
  child.kill('SIGQUIT');
  throw new Error(`${child.spawnfile} did not start: ${said}`);
}

function connects(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
