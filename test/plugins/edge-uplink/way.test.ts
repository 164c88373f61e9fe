import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestEdge } from 'svc/testing';
import { belowManager, dial, proxyFor, spkiPin } from 'svc/tunnel';

import { enrol } from '../../../bin/agent/enrol.ts';
import { proxyEnvironment } from '../../../bin/agent/proxy.ts';
import { systemClock } from '../../../core/boot/time.ts';
import { redirected, sourceOf } from '../../../plugins/edge-upgrade/address.ts';
import { HttpPusher } from '../../../plugins/edge-uplink/push.ts';
import { peer } from '../../peers.ts';
import { freePort } from '../ingest/nginx.ts';
import { type Certificate, certificate } from '../lib/tunnel/certificate.ts';
import { startManager, until } from './far-side.ts';

const lamp = fileURLToPath(new URL('../../fixtures/edge-plugins/edge-lamp', import.meta.url));

/** A daemon in a folder of its own, until the test ends. */
async function daemon(
  t: TestContext,
  program: string,
  args: (folder: string) => readonly string[],
  port: number,
  files: Readonly<Record<string, string>>,
) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-way-'));
  Object.entries(files).forEach(([name, text]) =>
    writeFileSync(join(folder, name), text.replaceAll('FOLDER', folder)),
  );
  const child = spawn(program, [...args(folder)], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const listens = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () =>
        resolve(false),
      );
      socket.once('connect', () => socket.destroy());
    });
  for (let open = false; !open; open = await listens()) {
    assert.equal(child.exitCode, null, `${program} has ended`);
  }
  return folder;
}

/** Puts the manager below `/svc/`, next to what else that host serves. */
async function behindNginx(
  t: TestContext,
  program: string,
  manager: string,
  shown: Certificate,
): Promise<string> {
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path FOLDER/${kind};`)
    .join(' ');
  const server = `listen 127.0.0.1:${port} ssl; ssl_certificate FOLDER/cert; ssl_certificate_key FOLDER/key;
    location /svc/ { proxy_pass ${manager}/; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }
    location / { return 418; }`;
  await daemon(
    t,
    program,
    (folder) => ['-p', folder, '-c', join(folder, 'conf'), '-e', join(folder, 'error.log')],
    port,
    {
      ...shown,
      conf: `daemon off; master_process off; pid FOLDER/pid; events { worker_connections 64; }\nhttp { access_log off; ${temporary} server { ${server} } }\n`,
    },
  );
  return `https://127.0.0.1:${port}/svc`;
}

async function startProxy(
  t: TestContext,
  program: string,
): Promise<{ url: string; connects(): number }> {
  const port = await freePort();
  const conf = `Port ${port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\nBasicAuth agent s3cret\nLogFile "FOLDER/log"\nLogLevel Connect\n`;
  const folder = await daemon(t, program, (made) => ['-d', '-c', join(made, 'conf')], port, {
    conf,
  });
  return {
    url: `http://agent:s3cret@127.0.0.1:${port}`,
    connects: () => readFileSync(join(folder, 'log'), 'utf8').split('CONNECT 127.0.0.1').length - 1,
  };
}

test('through a real proxy, and below a path of a real nginx, an agent enrols, keeps its tunnel and pushes', async (t) => {
  const [nginx, tinyproxy] = [peer(t, 'nginx'), peer(t, 'tinyproxy')];
  if (nginx === undefined || tinyproxy === undefined) {
    return;
  }
  const far = await startManager(t);
  far.behaviour.push = ({ path }, response) => {
    const { manager: _plain, ...keys } = far.credentials;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(path === '/internal/edge/enrol' ? JSON.stringify(keys) : '{}');
  };
  const shown = certificate(t, 'manager.example');
  const manager = await behindNginx(t, nginx, far.url, shown);
  const pin = spkiPin(shown.cert);
  const proxy = await startProxy(t, tinyproxy);
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-way-edge-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));

  await enrol(dataDir, { manager, token: 'svc_enrol_0123456789abcdef', pin, proxy: proxy.url });
  const kept = JSON.parse(readFileSync(join(dataDir, 'edge.json'), 'utf8')) as {
    manager: string;
    proxy: string;
  };
  assert.deepEqual([kept.manager, kept.proxy], [manager, proxy.url]);
  assert.equal(proxy.connects(), 1, 'the enrolment');

  await t.test('tunnel and pushes', async (t) => {
    // The one that was kept is of no use any more: the setting goes before it.
    writeFileSync(
      join(dataDir, 'edge.json'),
      JSON.stringify({ ...kept, proxy: 'http://127.0.0.1:1' }),
      { mode: 0o600 },
    );
    await startTestEdge(t, {
      plugins: ['edge-uplink', lamp],
      dataDir,
      environment: { SVC_EDGE_PROXY: proxy.url },
    });
    const session = await far.session();
    assert.equal(proxy.connects(), 2, 'the tunnel');
    await session.call(
      'lamp_ship',
      { body: 'by a proxy', path: '/v1/logs', signal: 'logs' },
      { timeoutMs: 10_000 },
    );
    await until('the parcel has come', () =>
      far.pushes.some(({ path, body }) => path === '/v1/logs' && body === 'by a proxy'),
    );
    assert.equal(proxy.connects(), 3, 'the push');
  });

  await t.test('what a proxy refuses, or what is none, is said', async () => {
    const push = async (wrong: string) => {
      const pusher = new HttpPusher(
        () => ({ ...far.credentials, manager, pin, proxy: wrong }),
        systemClock,
      );
      const outcome = await pusher.push(
        { head: { to: '/v1/logs', type: 'text/plain', items: 1, at: 0 }, body: Buffer.from('x') },
        AbortSignal.timeout(10_000),
      );
      pusher.close();
      return outcome.kind === 'later' ? outcome.reason : outcome.kind;
    };
    assert.match(
      await push(proxy.url.replace('s3cret', 'wrong')),
      /^The proxy 127\.0\.0\.1:\d+ refuses to connect to 127\.0\.0\.1:\d+ \(40[137]\)/,
    );
    assert.match(
      await push(far.url),
      /^The proxy 127\.0\.0\.1:\d+ (closed the connection|refuses)/,
    );
    assert.match(await push('http://127.0.0.1:1'), /ECONNREFUSED/);
    assert.match(await push('socks5://10.0.0.1'), /^The proxy address is invalid/);
    const url = belowManager(manager, '/internal/tunnel').href;
    await assert.rejects(
      dial({ url, pin, proxy: proxy.url.replace('s3cret', 'wrong') }),
      /refuses to connect/,
    );
    await assert.rejects(
      dial({ url: url.replace('/svc/', '/'), pin, proxy: proxy.url }),
      /responded with status 418 instead of opening a tunnel/,
    );
  });
});

test('the environment names the proxy, but for the machine itself and what NO_PROXY has', () => {
  const environment = {
    HTTPS_PROXY: 'http://one:3128',
    http_proxy: 'http://two:3128',
    NO_PROXY: '.inner.example, 10.0.0.7,other.example:8443',
  };
  const by = (url: string): string | undefined => proxyFor(new URL(url), environment);
  assert.deepEqual(['https://a.example', 'wss://a.example', 'http://a.example'].map(by), [
    'http://one:3128',
    'http://one:3128',
    'http://two:3128',
  ]);
  const direct = [
    'https://localhost',
    'http://127.0.0.1:8080',
    'https://[::1]',
    'https://x.inner.example',
    'https://10.0.0.7',
    'https://other.example:8443',
  ];
  assert.deepEqual(direct.map(by), [
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(by('https://other.example'), 'http://one:3128');
  assert.equal(by('https://xinner.example'), 'http://one:3128');
  assert.equal(
    proxyFor(new URL('https://a.example'), { ...environment, no_proxy: '*' }),
    undefined,
  );
  assert.equal(proxyFor(new URL('https://a.example'), {}), undefined);
});

test('the agent takes the proxy of its environment for the manager that it is enrolled with', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-way-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const by = (more: Record<string, string>) =>
    proxyEnvironment({ SVC_DATA_DIR: folder, HTTPS_PROXY: 'http://one:3128', ...more });
  assert.deepEqual(by({}), {}, 'not enrolled');
  writeFileSync(join(folder, 'edge.json'), '{"manager":"https://a.example/svc"}');
  assert.deepEqual(by({}), { SVC_EDGE_PROXY: 'http://one:3128' });
  assert.deepEqual(by({ NO_PROXY: 'a.example' }), {});
  assert.deepEqual(by({ SVC_EDGE_PROXY: 'http://two:1' }), { SVC_EDGE_PROXY: 'http://two:1' });
  writeFileSync(join(folder, 'edge.json'), '{"manag');
  assert.deepEqual(by({}), {});
});

test('keys go to the path of the manager, and to nothing else of its host', () => {
  const identity = {
    manager: 'https://host.example/svc',
    access_key: 'a',
    secret_key: 's',
    proxy: 'http://one:3128',
  };
  const source = sourceOf('/internal/edge/packages/svc-1.0.0-x64', identity);
  assert.equal(source.url.href, 'https://host.example/svc/internal/edge/packages/svc-1.0.0-x64');
  assert.ok(source.authorization?.startsWith('Basic ') && source.proxy === 'http://one:3128');
  assert.equal(sourceOf('https://host.example/other/file', identity).authorization, undefined);
  assert.equal(sourceOf('https://host.example/svcx/file', identity).authorization, undefined);
  assert.throws(
    () => redirected(source, 'https://host.example/other/file'),
    /redirects to a path outside the manager/,
  );
  assert.equal(redirected(source, '/svc/there').url.pathname, '/svc/there');
});
