import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import type { Finding } from '../../bin/upkeep/doctor/finding.ts';
import { publicAddress } from '../../bin/upkeep/doctor/public-address.ts';
import { peer } from '../peers.ts';
import { startNginx } from '../plugins/ingest/nginx.ts';
import { authorityOf, type Files } from './doctor-certificates.ts';
import { projectRoot, scratch, serving, svc } from './launcher.ts';

/** Returns the doctor's report, optionally run through another program. */
async function examined(
  data: string,
  env: Record<string, string> = {},
  before: readonly string[] = [],
): Promise<(subject: string) => Finding> {
  const [command, ...rest] = [...before, process.execPath, join(projectRoot, 'bin/svc')];
  const { json, stderr, stdout } = await svc(['doctor', '--data', data, '--json'], {
    env: { SVC_HTTP_ADDR: '127.0.0.1:0', ...env },
    cwd: projectRoot,
    program: [command, ...rest],
  });
  assert.notEqual(stdout, '', stderr);
  const { findings } = json<{ findings: readonly Finding[] }>();
  return (subject) => findings.find((finding) => finding.subject === subject)!;
}

const startsLike = (
  finding: Finding,
  verdict: Finding['verdict'],
  detail: RegExp,
  fix: RegExp,
): void => {
  assert.equal(finding.verdict, verdict, JSON.stringify(finding));
  assert.match(finding.detail, detail);
  assert.match(finding.fix!, fix);
};

test('few open files, and none left to watch with', async (t) => {
  const [prlimit, unshare] = [peer(t, 'prlimit'), peer(t, 'unshare')];
  if (prlimit === undefined || unshare === undefined) {
    return;
  }
  const data = join(scratch(t), 'data');
  startsLike(
    (await examined(data, {}, [prlimit, '--nofile=1000:1000']))('open files'),
    'warn',
    /^the limit is 1000; each edge/,
    /LimitNOFILE/,
  );
  const none = [
    unshare,
    '--user',
    '--map-root-user',
    'sh',
    '-c',
    'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"',
    'sh',
  ];
  startsLike(
    (await examined(data, {}, none))('file watching'),
    'warn',
    /no inotify instance left/,
    /sysctl fs\.inotify\.max_user_instances/,
  );
});

test('svc itself runs out of files', async (t) => {
  const prlimit = peer(t, 'prlimit');
  if (prlimit === undefined) {
    return;
  }
  const here = await serving(t, join(scratch(t), 'data'), { env: { SVC_EDGE_LOCAL: 'false' } });
  // Room for what it has open, and hardly any more.
  const used = readdirSync(`/proc/${here.pid}/fd`).length;
  assert.equal(
    spawnSync(prlimit, [`--nofile=${used + 5}:${used + 5}`, '--pid', String(here.pid)]).status,
    0,
  );
  startsLike(
    (await examined(here.dataDir))('open files'),
    'fail',
    /of \d+ files open: at the limit it refuses connections/,
    /LimitNOFILE/,
  );
});

test('a clock that is behind what was written', async (t) => {
  const faketime = peer(t, 'libfaketimeMT.so.1');
  if (faketime === undefined) {
    return;
  }
  const data = join(scratch(t), 'data');
  const here = await serving(t, data);
  await here.end();
  assert.equal((await examined(data))('clock').verdict, 'ok');
  const behind = await examined(data, {
    LD_PRELOAD: faketime,
    FAKETIME: '-2h',
    NO_FAKE_STAT: '1',
    DONT_FAKE_MONOTONIC: '1',
  });
  startsLike(behind('clock'), 'fail', /svc\.db.* was written at .*: the clock is slow$/, /NTP/);
});

test('an address that another process has, and one that is none of this machine', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const data = join(scratch(t), 'data');
  startsLike(
    (await examined(data, { SVC_HTTP_ADDR: address }))('address'),
    'fail',
    new RegExp(`^${address} is in use by process ${process.pid} `),
    /http\.addr/,
  );
  startsLike(
    (await examined(data, { SVC_HTTP_ADDR: '192.0.2.1:8080' }))('address'),
    'fail',
    /failed to listen on /,
    /address of this machine/,
  );
});

test('certificates: expired, for another name or key, without what signed them', async (t) => {
  const folder = scratch(t);
  const authority = authorityOf(folder);
  const good = authority.certificate('good', { names: ['svc.example.org'], days: 90 });
  const look = async ({ cert, key }: Files, url = 'https://svc.example.org'): Promise<Finding> => {
    const env = {
      SVC_TLS_ADDR: '127.0.0.1:0',
      SVC_TLS_CERT: cert,
      SVC_TLS_KEY: key,
      SVC_PUBLIC_URL: url,
    };
    return (await examined(join(folder, 'data'), env))('certificate');
  };
  startsLike(
    await look(good),
    'warn',
    /ends with svc\.example\.org, which is signed by test authority/,
    /append the certificate of test authority/,
  );
  startsLike(
    await look({ ...good, cert: authority.chained(good) }),
    'warn',
    /ends with test authority|self-signed/,
    /authority|agents/,
  );
  startsLike(
    await look(good, 'https://other.example.org'),
    'fail',
    /is for DNS:svc\.example\.org, not for other\.example\.org/,
    /http\.public_url/,
  );
  const other = authority.certificate('other', { names: ['svc.example.org'], days: 90 });
  startsLike(
    await look({ cert: good.cert, key: other.key }),
    'fail',
    /does not match the certificate/,
    /the key of the certificate/,
  );
  const old = authority.certificate('old', { names: ['svc.example.org'], days: -1 });
  startsLike(await look(old), 'fail', / expired on \d{4}-/, /replace it/);
  const own = authority.selfSigned('own', 'svc.example.org', 5);
  startsLike(await look(own), 'warn', /is self-signed/, /--ca/);
  writeFileSync(join(folder, 'none.pem'), 'nothing');
  startsLike(
    await look({ cert: join(folder, 'none.pem'), key: good.key }),
    'fail',
    /contains no PEM certificate/,
    /http\.tls_cert/,
  );
});

test('the public address: nobody there, somebody else, sockets that do not pass, streams that are held back, a certificate that is not believed', async (t) => {
  const nginx = peer(t, 'nginx');
  if (nginx === undefined) {
    return;
  }
  const folder = scratch(t);
  const here = await serving(t, join(folder, 'data'));
  const ports = { svc: Number(new URL(here.url).port), metrics: 9, logs: 9, traces: 9 };
  const openProbe = async (): Promise<string> => {
    const answer = await fetch(`${here.url}/api/v1/doctor/probes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${here.token}` },
    });
    return ((await answer.json()) as { probe: string }).probe;
  };
  const look = async (url: string): Promise<readonly Finding[]> =>
    [await publicAddress(openProbe, url)('way')].flat();
  const verdicts = async (url: string): Promise<readonly string[]> =>
    (await look(url)).map(({ subject, verdict }) => `${subject} ${verdict}`);

  assert.deepEqual(
    await verdicts(await startNginx(t, nginx, ports)),
    ['way: certificate ok', 'way: streams ok', 'way: sockets ok'],
    'by the file that ships',
  );
  startsLike(
    (await look('http://127.0.0.1:9'))[0]!,
    'fail',
    /cannot be reached from this machine/,
    /proxy runs/,
  );
  const stranger = createServer((_req, res) => void res.writeHead(404).end('nothing'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.after(() => stranger.close());
  startsLike(
    (await look(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}`))[0]!,
    'fail',
    /does not lead to this svc: it answered 404/,
    /every path/,
  );

  const deaf = await startNginx(t, nginx, ports, undefined, (text) =>
    text.replaceAll(/^\s*proxy_set_header (Upgrade|Connection) .*$/gm, ''),
  );
  const [, , sockets] = await look(deaf);
  startsLike(sockets!, 'fail', /WebSocket connections fail/, /proxy_set_header Upgrade/);
  // As nginx does unless it is told to speak HTTP/1.1 to svc and to mind what svc says.
  const buffering = (text: string): string =>
    text
      .replaceAll(
        'proxy_http_version 1.1;',
        'proxy_http_version 1.0; proxy_ignore_headers X-Accel-Buffering;',
      )
      .replaceAll('proxy_buffering off;', '');
  const [, streams] = await look(await startNginx(t, nginx, ports, undefined, buffering));
  startsLike(streams!, 'fail', /buffers streams/, /proxy_buffering off/);

  const own = authorityOf(folder).selfSigned('own', 'svc.example.org', 5);
  const secure = await startNginx(t, nginx, ports, {
    cert: readFileSync(own.cert, 'utf8'),
    key: readFileSync(own.key, 'utf8'),
  });
  startsLike(
    (await look(secure))[0]!,
    'fail',
    /its certificate is (self-signed|for another name)/,
    /./,
  );
});
