import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import type { Reading } from 'svc/check';
import { SMTPServer } from 'smtp-server';
import { WebSocketServer } from 'ws';

import { peer } from '../../peers.ts';
import { until } from '../edge/house.ts';
import { authority } from './certificates.ts';
import { ask, daemon, folderOf, freePort, listening } from './daemons.ts';

/** What a test is about, without times and addresses. */
const shown = ({ success, cause }: Reading) => [success, cause];

/** Names of the phases that a reading has. */
const phases = ({ facts }: Reading): readonly string[] => Object.keys(facts.phases);

/** A certificate for loopback in files of a folder, and the authority that a check trusts. */
function certified(t: TestContext, name: string) {
  const ca = authority(t);
  const { cert, key } = ca.issue('localhost', 30);
  const folder = folderOf(t, name);
  return { ca, folder, cert: folder.write('cert.pem', cert), key: folder.write('key.pem', key) };
}

test('PostgreSQL of Debian: a login by SCRAM over TLS, a query, and what a server says without one', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const { ca, folder, cert, key } = certified(t, 'check-postgres');
  const user = folder.giveTo('postgres');
  const newest = readdirSync('/usr/lib/postgresql')
    .toSorted((a, b) => Number(a) - Number(b))
    .at(-1)!;
  const bin = `/usr/lib/postgresql/${newest}/bin`;
  const data = join(folder.path, 'data');
  const password = folder.write('password', 'pg-7Q\n');
  const run = { ...user, stdio: 'ignore', cwd: folder.path } as const;
  execFileSync(
    `${bin}/initdb`,
    ['-D', data, '-U', 'watch', '-A', 'scram-sha-256', `--pwfile=${password}`, '--no-sync'],
    run,
  );
  execFileSync('install', ['-m', '600', key, join(data, 'key.pem')], run);
  const port = await freePort();
  await daemon(
    t,
    `${bin}/postgres`,
    [
      ...['-D', data, '-p', `${port}`, '-k', folder.path, '-h', '127.0.0.1', '-F'],
      ...['-c', 'ssl=on', '-c', `ssl_cert_file=${cert}`, '-c', 'ssl_key_file=key.pem'],
    ],
    { port, ...user },
  );
  const target = `postgres://localhost:${port}/postgres`;
  const login = { username: 'watch', password: 'pg-7Q', ca: ca.pem };
  const order = { kind: 'postgres', target, ...login } as const;
  await until('the database is open', async () => (await ask(order)).success);
  const full = await ask({
    ...order,
    conditions: ['[BODY][0][0] == 1', '[BANNER] == pat(PostgreSQL *)'],
  });
  assert.deepEqual(shown(full), [true, null]);
  assert.deepEqual(phases(full), ['resolve', 'connect', 'tls', 'greeting', 'login', 'request']);
  assert.ok(full.facts.certificate!.expires_at > Date.now());

  const counted = await ask({
    ...order,
    send: 'SELECT count(*) FROM pg_database',
    conditions: ['[BODY][0][0] > 2'],
  });
  assert.deepEqual(shown(counted), [true, null]);
  const written = await ask({ ...order, send: 'CREATE TABLE made (id int)' });
  assert.match(written.cause!, /read-only transaction \(25006\)/);
  const escaped = await ask({ ...order, send: 'COMMIT; CREATE TABLE made (id int)' });
  assert.match(escaped.cause!, /multiple commands into a prepared statement \(42601\)/);

  assert.match((await ask({ ...order, password: 'wrong' })).cause!, /password.*\(28P01\)/);
  assert.match(
    (await ask({ ...order, target: `${target}_gone` })).cause!,
    /does not exist \(3D000\)/,
  );
  assert.match((await ask({ kind: 'postgres', target })).cause!, /intermediate certificate/);
  const anonymous = await ask({ kind: 'postgres', target, ca: ca.pem });
  assert.deepEqual(shown(anonymous), [true, null]);
  assert.deepEqual(shown(await ask({ ...order, tls: 'off' })), [true, null]);
});

test('MariaDB of Debian: a login over TLS, a ping, and a refusal that blocks nobody', async (t) => {
  const program = peer(t, 'mariadbd');
  if (program === undefined) {
    return;
  }
  const { ca, folder, cert, key } = certified(t, 'check-mysql');
  const user = folder.giveTo('mysql');
  const data = join(folder.path, 'data');
  const usual = ['--no-defaults', `--datadir=${data}`];
  const setup = folder.write(
    'setup.sql',
    "CREATE USER watch@'127.0.0.1' IDENTIFIED VIA mysql_native_password USING PASSWORD('my-7Q');",
  );
  execFileSync('mariadb-install-db', [...usual, '--skip-test-db'], {
    ...user,
    stdio: 'ignore',
    cwd: folder.path,
    env: { ...process.env, TMPDIR: folder.path },
  });
  const port = await freePort();
  const arguments_ = [
    ...[...usual, `--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve'],
    ...[`--socket=${join(folder.path, 's')}`, `--init-file=${setup}`, '--max-connect-errors=3'],
    `--tmpdir=${folder.path}`,
    ...[`--ssl-cert=${cert}`, `--ssl-key=${key}`, `--pid-file=${join(folder.path, 'pid')}`],
  ];
  await daemon(t, program, arguments_, { port, ...user });
  const order = {
    kind: 'mysql',
    target: `mysql://localhost:${port}`,
    username: 'watch',
    password: 'my-7Q',
    ca: ca.pem,
  } as const;
  const full = await ask({ ...order, tls: 'required', conditions: ['[BANNER] == pat(*MariaDB*)'] });
  assert.deepEqual(shown(full), [true, null]);
  assert.deepEqual(phases(full), ['resolve', 'connect', 'greeting', 'tls', 'login', 'request']);
  assert.match((await ask({ ...order, password: 'wrong' })).cause!, /Access denied .*\(1045\)/);
  // More often than the server lets connections be dropped.
  for (let round = 0; round < 5; round++) {
    const { kind, target } = order;
    assert.deepEqual(shown(await ask({ kind, target, ca: ca.pem })), [true, null]);
  }
  assert.deepEqual(shown(await ask({ ...order, tls: 'off' })), [true, null]);
});

test('Redis of Debian: a ping, with and without its password', async (t) => {
  const program = peer(t, 'redis-server');
  if (program === undefined) {
    return;
  }
  const port = await freePort();
  const folder = folderOf(t, 'check-redis');
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder.path];
  await daemon(t, program, [...args, '--requirepass', 're-7Q'], { port });
  const order = { kind: 'redis', target: `redis://127.0.0.1:${port}` } as const;
  assert.deepEqual(shown(await ask({ ...order, password: 're-7Q' })), [true, null]);
  assert.match((await ask({ ...order, password: 'wrong' })).cause!, /^WRONGPASS/);
  assert.match((await ask(order)).cause!, /does not hold: NOAUTH Authentication required/);
  assert.deepEqual(shown(await ask({ ...order, username: 'default', password: 're-7Q' })), [
    true,
    null,
  ]);
});

test('Mosquitto of Debian: a connection with and without a login', async (t) => {
  const program = peer(t, 'mosquitto');
  if (program === undefined) {
    return;
  }
  const { ca, folder, cert, key } = certified(t, 'check-mqtt');
  const passwords = folder.write('passwords', '');
  execFileSync('mosquitto_passwd', ['-b', passwords, 'watch', 'mq-7Q'], { stdio: 'ignore' });
  chmodSync(passwords, 0o644);
  const [port, secure] = [await freePort(), await freePort()];
  const file = folder.write(
    'mosquitto.conf',
    [
      'per_listener_settings true',
      `listener ${port} 127.0.0.1`,
      `password_file ${passwords}`,
      `listener ${secure} 127.0.0.1`,
      'allow_anonymous true',
      `certfile ${cert}`,
      `keyfile ${key}`,
      '',
    ].join('\n'),
  );
  await daemon(t, program, ['-c', file], { port });
  const order = { kind: 'mqtt', target: `mqtt://127.0.0.1:${port}` } as const;
  assert.deepEqual(shown(await ask({ ...order, username: 'watch', password: 'mq-7Q' })), [
    true,
    null,
  ]);
  assert.deepEqual(shown(await ask(order)), [false, '[STATUS] == 0 does not hold: 5']);
  assert.deepEqual(shown(await ask({ ...order, conditions: ['[STATUS] == any(0, 5)'] })), [
    true,
    null,
  ]);
  const over = await ask({ kind: 'mqtt', target: `mqtts://localhost:${secure}`, ca: ca.pem });
  assert.deepEqual(shown(over), [true, null]);
  assert.ok(over.facts.certificate !== undefined);
});

test('Exim of Debian: a greeting, STARTTLS and its certificate', async (t) => {
  const program = peer(t, 'exim4');
  if (program === undefined) {
    return;
  }
  const { ca, folder, cert, key } = certified(t, 'check-smtp');
  const port = await freePort();
  const file = folder.write(
    'exim.conf',
    [
      'primary_hostname = localhost',
      `spool_directory = ${folder.path}`,
      `log_file_path = ${folder.path}/%slog`,
      'keep_environment =',
      'tls_advertise_hosts = *',
      `tls_certificate = ${cert}`,
      `tls_privatekey = ${key}`,
      '',
    ].join('\n'),
  );
  folder.giveTo('Debian-exim');
  await daemon(t, program, ['-bdf', '-C', file, '-oX', `127.0.0.1.${port}`], { port });
  const order = { kind: 'smtp', target: `smtp://localhost:${port}` } as const;
  const full = await ask({
    ...order,
    ca: ca.pem,
    tls: 'required',
    conditions: ['[STATUS] == 250', '[BANNER] == pat(*Exim*)', '[CERTIFICATE_EXPIRATION] > 20d'],
  });
  assert.deepEqual(shown(full), [true, null]);
  assert.match((await ask(order)).cause!, /intermediate certificate/);
  assert.deepEqual(shown(await ask({ ...order, tls: 'off' })), [true, null]);
});

test('a mail server is logged in to only over TLS', async (t) => {
  const ca = authority(t);
  let asked = 0;
  const serve = async (options: object): Promise<number> => {
    const mail = new SMTPServer({
      ...ca.issue('localhost', 30),
      authMethods: ['PLAIN'],
      onAuth: ({ username, password }, _session, done) => {
        asked += 1;
        done(password === 'sm-7Q' ? null : new Error('wrong'), { user: username });
      },
      ...options,
    });
    mail.on('error', () => undefined);
    return await listening(t, mail.server);
  };
  const [port, secure, plain] = [
    await serve({}),
    await serve({ secure: true }),
    await serve({ hideSTARTTLS: true, allowInsecureAuth: true }),
  ];
  const order = {
    kind: 'smtp',
    target: `smtp://localhost:${port}`,
    ca: ca.pem,
    username: 'watch',
    password: 'sm-7Q',
  } as const;
  assert.deepEqual(shown(await ask(order)), [true, null]);
  assert.deepEqual(shown(await ask({ ...order, target: `smtps://localhost:${secure}` })), [
    true,
    null,
  ]);
  assert.match(
    (await ask({ ...order, password: 'wrong' })).cause!,
    /^\[STATUS\] == 250 does not hold: 535/,
  );
  const before = asked;
  assert.match(
    (await ask({ ...order, target: `smtp://localhost:${plain}` })).cause!,
    /without which no password is sent/,
  );
  assert.equal(asked, before);
});

test('a WebSocket answers a ping, and a text where the order has one', async (t) => {
  const http = createHttp((_request, response) => response.writeHead(403).end());
  const sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    if (request.url === '/liar') {
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: no\r\n\r\n',
      );
      return;
    }
    if (request.url !== '/live?room=1' || request.headers['x-key'] !== 'k') {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (text: Buffer) =>
        client.send(`${text.toString('utf8')} ${'x'.repeat(300)}`),
      );
    });
  });
  const inner = await listening(t, http);
  t.after(() => sockets.clients.forEach((client) => client.terminate()));
  const order = {
    kind: 'websocket',
    target: `ws://127.0.0.1:${inner}/live?room=1`,
    headers: { 'x-key': 'k' },
  } as const;
  const quiet = await ask(order);
  assert.deepEqual(shown(quiet), [true, null]);
  assert.deepEqual(phases(quiet), ['resolve', 'connect', 'greeting', 'request']);
  assert.deepEqual(
    shown(await ask({ ...order, send: 'hello', conditions: ['[BODY] == pat(hello xxx*)'] })),
    [true, null],
  );
  assert.deepEqual(shown(await ask({ ...order, headers: {} })), [
    false,
    '[STATUS] == 101 does not hold: 403',
  ]);
  assert.match(
    (await ask({ ...order, target: `ws://127.0.0.1:${inner}/liar` })).cause!,
    /not to WebSocket/,
  );

  const nginx = peer(t, 'nginx');
  if (nginx === undefined) {
    return;
  }
  const { ca, folder, cert, key } = certified(t, 'check-websocket');
  const port = await freePort();
  const file = folder.write(
    'nginx.conf',
    `daemon off; master_process off; pid ${folder.path}/pid; error_log stderr; events {}
    http { access_log off; client_body_temp_path ${folder.path}; proxy_temp_path ${folder.path};
      fastcgi_temp_path ${folder.path}; uwsgi_temp_path ${folder.path}; scgi_temp_path ${folder.path};
      server { listen 127.0.0.1:${port} ssl; ssl_certificate ${cert}; ssl_certificate_key ${key};
        location / { proxy_pass http://127.0.0.1:${inner}; proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; } } }`,
  );
  await daemon(t, nginx, ['-c', file, '-e', 'stderr'], { port });
  const over = await ask({ ...order, target: `wss://localhost:${port}/live?room=1`, ca: ca.pem });
  assert.deepEqual(shown(over), [true, null]);
});

test('HTTP goes through a proxy, which alone gets its login', async (t) => {
  const program = peer(t, 'tinyproxy');
  if (program === undefined) {
    return;
  }
  const ca = authority(t);
  const heard: (string | undefined)[] = [];
  const site = createHttp((request, response) => {
    heard.push(request.headers['proxy-authorization']);
    response.end(`asked ${request.url}`);
  });
  const secureSite = createHttps(ca.issue('localhost', 30), (request, response) => {
    heard.push(request.headers['proxy-authorization']);
    response.end(`asked ${request.url}`);
  });
  const [http, https, port] = [
    await listening(t, site),
    await listening(t, secureSite),
    await freePort(),
  ];
  const folder = folderOf(t, 'check-proxy');
  const file = folder.write(
    'tinyproxy.conf',
    `Port ${port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\nBasicAuth watch px-7Q\n`,
  );
  await daemon(t, program, ['-d', '-c', file], { port });
  const login = `Basic ${Buffer.from('watch:px-7Q').toString('base64')}`;
  const order = {
    kind: 'http',
    proxy: `http://127.0.0.1:${port}`,
    headers: { 'Proxy-Authorization': login },
    conditions: ['[STATUS] == 200', '[BODY] == asked /a?b=c'],
  } as const;
  const plain = await ask({ ...order, target: `http://127.0.0.1:${http}/a?b=c` });
  assert.deepEqual(shown(plain), [true, null]);
  const secure = await ask({ ...order, target: `https://localhost:${https}/a?b=c`, ca: ca.pem });
  assert.deepEqual(shown(secure), [true, null]);
  assert.ok(secure.facts.phases.proxy! > 0 && secure.facts.certificate !== undefined);
  assert.deepEqual(heard, [undefined, undefined]);
  assert.match(
    (await ask({ ...order, headers: {}, target: `https://localhost:${https}/` })).cause!,
    /the proxy does not connect: it answers 40[17]/,
  );
});
