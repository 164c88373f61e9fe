import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { MachineFiles, SlowCalls } from 'svc/probe';

import { AllowedViews } from '../../../plugins/edge-skills/reach/allowed-views.ts';
import { caddySites } from '../../../plugins/edge-skills/discovery/caddy-sites.ts';
import { checkDiscover } from '../../../plugins/edge-skills/discovery/check-discover.ts';
import { nginxSites } from '../../../plugins/edge-skills/discovery/nginx-sites.ts';
import { peer } from '../../peers.ts';
import { authority } from '../checks/certificates.ts';
import { isFinding } from '../../../plugins/checks/discovery/finding.ts';
import { folderOf, policyOf, type Skills } from './machine.ts';

/** The method of an agent whose web servers are configured in this folder. */
function discovery(root: string, skills: Partial<Skills> = {}) {
  const policy = policyOf(skills);
  const after = (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  };
  const method = checkDiscover({
    policy,
    files: new MachineFiles(),
    views: new AllowedViews(policy),
    slow: new SlowCalls({ slots: 2, deadlineMs: 10_000, after }),
    closed: [],
    nginx: join(root, 'nginx.conf'),
    caddy: join(root, 'Caddyfile'),
    include: [`${root}/**`],
  });
  return async () => {
    const found = await method.run({}, { signal: new AbortController().signal });
    assert.ok(isFinding(found), 'the manager accepts what an agent says');
    return found;
  };
}

/** A container engine that lists one container with these labels. */
async function engineWith(t: TestContext, root: string, labels: object): Promise<string> {
  const path = join(root, 'engine.sock');
  const engine = createServer((_, response) =>
    response.end(JSON.stringify([{ Id: 'a'.repeat(64), Names: ['/shop'], Labels: labels }])),
  );
  await new Promise<void>((ready) => engine.listen(path, ready));
  t.after(() => engine.close());
  return path;
}

test('an agent finds the sites, certificates, listeners and labels of its machine', async (t) => {
  const nginx = peer(t, 'nginx');
  if (nginx === undefined) {
    return;
  }
  const { root, write } = folderOf(t);
  const { cert, key } = authority(t).issue('mail.example.org', 30);
  write('ssl/shop.pem', cert);
  write('ssl/shop.key', key);
  write(
    'nginx.conf',
    `error_log ${root}/error.log; pid ${root}/nginx.pid;
     events {}
     http { access_log off; include sites/*.conf; server { listen 127.0.0.1:8099; server_name inner.example.org; } }`,
  );
  write(
    'sites/shop.conf',
    `# what the shop needs
     map $http_x $y { default "}"; }
     server { listen 18080; listen [::]:18443 ssl; server_name shop.example.org "www.example.org" *.example.org ~^x;
       ssl_certificate ssl/shop.pem; ssl_certificate_key ssl/shop.key; location / { return 200 "{ok; }"; } }
     server { listen 18080; server_name plain.example.org _ localhost; }`,
  );
  write('sites/shop.conf.bak', 'server { server_name old.example.org; }');
  write(
    'Caddyfile',
    `{\n  email ann@example.org\n}\n(log) {\n  log {\n    output discard\n  }\n}\nblog.example.org, http://feed.example.org:8081,\nwww.blog.example.org {\n  import log\n  tls ${root}/ssl/shop.pem ${root}/ssl/shop.key\n  respond "a } b"\n}\n*.example.org, {$DOMAIN}, :9000 {\n}\n`,
  );
  // What nginx itself makes of these files.
  const { status, stderr } = spawnSync(
    nginx,
    ['-t', '-c', join(root, 'nginx.conf'), '-p', root, '-e', join(root, 'error.log')],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  const socket = await engineWith(t, root, {
    'svc.check.http': 'http://127.0.0.1:8000/',
    'kuma.shop.http.url': 'https://shop.example.org/',
    'kuma.shop.http.basic_auth_password': 'p-7Q',
    'com.example.owner': 'ann',
  });
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const { port } = server.address() as { readonly port: number };

  const found = await discovery(root, { containers: [socket] })();
  assert.deepEqual(
    found.sites.map(({ server: by, url }) => `${by} ${url}`),
    [
      'nginx https://shop.example.org:18443/',
      'nginx https://www.example.org:18443/',
      'nginx http://plain.example.org:18080/',
      'caddy https://blog.example.org/',
      'caddy http://feed.example.org:8081/',
      'caddy https://www.blog.example.org/',
    ],
  );
  assert.deepEqual(
    found.certificates.map(({ names }) => names),
    [['mail.example.org']],
  );
  assert.deepEqual(found.containers, [
    {
      name: 'shop',
      labels: {
        'svc.check.http': 'http://127.0.0.1:8000/',
        'kuma.shop.http.url': 'https://shop.example.org/',
      },
    },
  ]);
  assert.ok(found.listeners.some((one) => one.port === port && one.address === '127.0.0.1'));
  assert.deepEqual(found.notes, []);
});

test('an agent looks only where its policy lets it, and says what was left out', async (t) => {
  const { root, write } = folderOf(t);
  write('nginx.conf', 'http { include /etc/passwd; server { server_name a.example.org; } }');
  const found = await discovery(root)();
  assert.deepEqual(
    found.sites.map(({ url }) => url),
    ['http://a.example.org/'],
  );
  assert.match(found.notes.join(' '), /etc\/passwd/);

  const closed = await discovery(root, { views: [] })();
  assert.deepEqual([closed.sites, closed.containers], [[], []]);
  assert.match(closed.notes.join(' '), /sites of web servers.*containers/s);
  await assert.rejects(discovery(root, { enabled: false })(), { code: 'forbidden' });
});

test('hostile configurations end, and what is well-formed in them is read', async () => {
  const of = (text: string) => async (path: string) =>
    path.endsWith('main') ? [text] : path.includes('loop') ? [`include loop${path};`] : [];
  const nginx = async (text: string) =>
    (await nginxSites('/x/main', of(text))).sites.map(({ url }) => url);
  const site = 'server { server_name a.example.org; }';
  const first = ['http://a.example.org/'];
  assert.deepEqual(await nginx(`http { ${site} } }}}} http { ${site} }`), first);
  assert.deepEqual(await nginx(`http { ${site} ${'{'.repeat(100_000)}`), first);
  assert.deepEqual(await nginx(`http { ${site} ${'x '.repeat(100_000)}`), first);
  assert.deepEqual(await nginx(`http { ${site} "${'\\"'.repeat(100_000)}`), first);
  const caddy = async (text: string) =>
    (await caddySites('/x/main', of(text))).sites.map(({ url }) => url);
  assert.deepEqual(await caddy('a.example.org\nrespond <<END\n  b.example.org {\n  END\n'), [
    'https://a.example.org/',
  ]);
  assert.deepEqual(await caddy(`}\n}\na.example.org {\n${'x{\n'.repeat(100_000)}`), [
    'https://a.example.org/',
  ]);
  assert.deepEqual(await caddy('<<A\n'.repeat(50_000)), []);
  // All forms of an address that the documentation of Caddy lists.
  const forms =
    'localhost|a.example.org|:443|http://b.example.org|localhost:8080|127.0.0.1|[::1]:2015|c.example.org/foo/*|*.example.org|http://';
  assert.deepEqual(
    await caddy(
      forms
        .split('|')
        .map((form) => `${form} {\n}\n`)
        .join(''),
    ),
    ['https://a.example.org/', 'http://b.example.org/', 'https://c.example.org/'],
  );
});
