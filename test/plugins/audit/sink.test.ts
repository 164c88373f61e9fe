import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { compare } from '../../../plugins/audit/cli/against.ts';
import { objectStoreSink } from '../../../plugins/audit/sink/object-store.ts';
import { signedHeaders } from '../../../plugins/audit/sink/signature-v4.ts';
import type { Batch } from '../../../plugins/audit/sink/sink.ts';
import { syslogMessage, syslogSink } from '../../../plugins/audit/sink/syslog.ts';
import { checkout, serving } from '../../cli/launcher.ts';
import { peer } from '../../peers.ts';
import { authority, clientCert, serverCert, serverKey } from '../metricsdb/certificates.ts';
import { as, auditHouse, folder, type Logged, post, trailPath, withoutTriggers } from './house.ts';

const until = async (isDone: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (const deadline = Date.now() + 30_000; !(await isDone()); await pause(20)) {
    assert.ok(Date.now() < deadline, `waited in vain until ${what}`);
  }
};

const reachable = { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' };

/** Listens on a port of its own until the test ends. */
async function listening(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Entries of a receiver, without the repeats of a sender that may send one twice; in their order. */
const entriesIn = (text: string): readonly Logged[] => {
  const entries = [...text.matchAll(/\{"id":.*\}/g)].map(([line]) => JSON.parse(line) as Logged);
  return entries.filter(({ id }, at) => entries.findIndex((other) => other.id === id) === at);
};

function assertWhole(entries: readonly Logged[], upTo: number): void {
  assert.deepEqual(
    entries.map(({ id }) => id),
    Array.from({ length: upTo }, (_, at) => at + 1),
    'every entry, in order',
  );
  entries.forEach(({ prev_hash: previous }, at) =>
    assert.equal(previous, entries[at - 1]?.hash ?? '0'.repeat(64)),
  );
}

test('an entry is a message of RFC 5424, whose text begins with its place in the chain', () => {
  const record = JSON.stringify({
    occurred_at: Date.parse('2026-03-01T12:00:00.250Z'),
    action: 'edge:create and a name much longer than thirty-two',
    status: 'denied',
  });
  const row = { seq: 7, key_id: 1, record, prev_hash: 'a'.repeat(64), hash: 'b'.repeat(64) };
  const message = syslogMessage(row, 'host-1');
  assert.match(
    message,
    /^<108>1 2026-03-01T12:00:00\.250Z host-1 svc - edge:create_and_a_name_much_long - \{"id":7,"prev_hash":"a{64}","hash":"b{64}",/,
  );
  assert.match(syslogMessage({ ...row, record: '{"status":"success"}' }, 'h'), /^<110>1 /);
});

test('requests to an object store are signed as Amazon documents it', () => {
  const key = {
    id: 'AKIAIOSFODNN7EXAMPLE',
    secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const signatureOf = (method: string, path: string, headers = {}, body = ''): string =>
    signedHeaders(
      { method, url: new URL(path, 'https://examplebucket.s3.amazonaws.com'), headers, body },
      key,
      Date.parse('2013-05-24T00:00:00Z'),
    )['authorization']!.split('Signature=')[1]!;
  // "Signature Calculations for the Authorization Header", its four examples.
  assert.equal(
    signatureOf('GET', '/test.txt', { range: 'bytes=0-9' }),
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
  assert.equal(
    signatureOf(
      'PUT',
      '/test%24file.text',
      { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      'Welcome to Amazon S3.',
    ),
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
  assert.equal(
    signatureOf('GET', '/?lifecycle'),
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  );
  assert.equal(
    signatureOf('GET', '/?max-keys=2&prefix=J'),
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});

/** Starts rsyslog with one input and one file; with `secure`, the input takes TLS alone. */
async function startRsyslog(
  t: TestContext,
  program: string,
  secure = false,
): Promise<{ port: number; file: string; stop: () => Promise<void>; start: () => Promise<void> }> {
  const home = folder(t);
  const free = createServer();
  const port = await listening(t, free);
  await new Promise((resolve) => free.close(resolve));
  const file = join(home, 'svc-audit.log');
  const settings = join(home, 'rsyslog.conf');
  for (const [name, text] of Object.entries({ authority, serverCert, serverKey })) {
    writeFileSync(join(home, name), text);
  }
  const drivers = secure
    ? [
        ` defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="${home}/authority" defaultNetstreamDriverCertFile="${home}/serverCert" defaultNetstreamDriverKeyFile="${home}/serverKey"`,
        ' streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon"',
      ]
    : ['', ''];
  writeFileSync(
    settings,
    `global(workDirectory="${home}" maxMessageSize="64k"${drivers[0]})
module(load="imtcp"${drivers[1]})
input(type="imtcp" address="127.0.0.1" port="${port}")
if $programname == "svc" then action(type="omfile" file="${file}")
`,
  );
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    const ending = child;
    child = undefined;
    if (ending !== undefined) {
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.kill('SIGTERM');
      await ended;
    }
  };
  const start = async (): Promise<void> => {
    child = spawn(program, ['-n', '-f', settings, '-i', join(home, 'pid')], { stdio: 'ignore' });
    await until(() => existsSync(join(home, 'pid')), 'rsyslog has started');
  };
  t.after(stop);
  await start();
  return { port, file, stop, start };
}

test('rsyslog gets every entry, also those of the time when it was away, and a log that was cut off or rewritten is found by them', async (t) => {
  const program = peer(t, 'rsyslogd');
  if (program === undefined) {
    return;
  }
  const rsyslog = await startRsyslog(t, program);
  const house = await auditHouse(t, {
    environment: { ...reachable, SVC_AUDIT_SINK: `syslog+tcp://127.0.0.1:${rsyslog.port}` },
  });
  const state = (): Promise<{
    behind: number;
    last: number;
    sink: string;
    error: string | null;
  }> => house.json(`${trailPath}/sink`);
  const caughtUp = (): Promise<void> =>
    until(async () => (await state()).behind === 0, 'the sink has everything');
  const large = '€'.repeat(2_000);
  for (const text of ['one', large, 'three']) {
    await post(house, 'entries', { text }, as('anna'));
  }
  await caughtUp();
  await rsyslog.stop();
  await post(house, 'entries', { text: 'while it is away' }, as('anna'));
  await until(async () => (await state()).error !== null, 'the failure is known');
  assert.match((await state()).error!, /ECONNREFUSED/);
  await rsyslog.start();
  await post(house, 'entries', { text: 'after' }, as('anna'));
  await caughtUp();
  const { last } = await state();
  await until(
    () => entriesIn(readFileSync(rsyslog.file, 'utf8')).length === last,
    'it has written',
  );
  assertWhole(entriesIn(readFileSync(rsyslog.file, 'utf8')), last);
  assert.equal(last, 5);

  const against = async (): Promise<Awaited<ReturnType<typeof compare>>> =>
    compare(rsyslog.file, async () =>
      Readable.from([await (await house.fetch(`${trailPath}/export`)).text()]),
    );
  assert.deepEqual(await against(), { ok: true, same: 5, archived: 0, missing: 0 });
  // Who has the keys writes a chain that verifies; here it is enough that its hashes are others.
  withoutTriggers(house.dataDir, (database) =>
    database.exec(
      "update audit_log set hash = iif(hash like 'f%', '0', 'f') || substr(hash, 2) where seq = 4",
    ),
  );
  const rewritten = await against();
  assert.deepEqual([rewritten.ok, rewritten.first_bad_seq, rewritten.same], [false, 4, 3]);
  withoutTriggers(house.dataDir, (database) =>
    database.exec('delete from audit_log where seq > 2'),
  );
  const cut = await compare(rsyslog.file, async () =>
    Readable.from([await (await house.fetch(`${trailPath}/export`)).text()]),
  );
  assert.equal(cut.ok, false);
});

test('rsyslog gets every entry over TLS, in order, also those of the time when it was away; a CA that did not sign for it is refused in words', async (t) => {
  const program = peer(t, 'rsyslogd');
  if (program === undefined || peer(t, 'lmnsd_ossl.so') === undefined) {
    return;
  }
  const rsyslog = await startRsyslog(t, program, true);
  const dataDir = folder(t);
  const houseWith = (ca: string) => {
    writeFileSync(join(dataDir, 'svc.yaml'), JSON.stringify({ audit: { sink_ca: ca } }));
    return auditHouse(t, {
      dataDir,
      environment: {
        ...reachable,
        SVC_AUDIT_SINK: `syslog+tls://127.0.0.1:${rsyslog.port}`,
      },
    });
  };
  type House = Awaited<ReturnType<typeof houseWith>>;
  const state = (house: House): Promise<{ behind: number; last: number; error: string | null }> =>
    house.json(`${trailPath}/sink`);

  const mistaken = await houseWith(clientCert);
  await post(mistaken, 'entries', { text: 'one' }, as('anna'));
  await until(async () => (await state(mistaken)).error !== null, 'the refusal is known');
  assert.match((await state(mistaken)).error!, /certificate/);
  assert.ok((await state(mistaken)).behind > 0);
  assert.equal(existsSync(rsyslog.file), false, 'nothing was sent to a stranger');
  await mistaken.stop();

  const house = await houseWith(authority);
  const caughtUp = (): Promise<void> =>
    until(async () => (await state(house)).behind === 0, 'the sink has everything');
  await post(house, 'entries', { text: 'two' }, as('anna'));
  await caughtUp();
  await rsyslog.stop();
  for (const text of ['three', 'four', 'five']) {
    await post(house, 'entries', { text }, as('anna'));
  }
  await until(async () => (await state(house)).error !== null, 'the failure is known');
  await rsyslog.start();
  await post(house, 'entries', { text: 'six' }, as('anna'));
  await caughtUp();
  const { last } = await state(house);
  await until(
    () => entriesIn(readFileSync(rsyslog.file, 'utf8')).length === last,
    'it has written',
  );
  assertWhole(entriesIn(readFileSync(rsyslog.file, 'utf8')), last);
  assert.ok(last >= 6);
});

test('a webhook gets signed batches, and an object store objects that are only added', async (t) => {
  const got: { url: string; method: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const objects = new Map<string, string>();
  let refuses = 1;
  const server = createHttpServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { url = '', method = '', headers } = request;
      const body = Buffer.concat(parts).toString('utf8');
      got.push({ url, method, headers, body });
      if (refuses > 0) {
        refuses -= 1;
        response.writeHead(503).end();
      } else if (!url.startsWith('/bucket/')) {
        response.writeHead(204).end();
      } else if (method === 'PUT') {
        const isThere = objects.has(url);
        objects.set(url, objects.get(url) ?? body);
        response.writeHead(isThere ? 412 : 200).end();
      } else {
        response.writeHead(objects.has(url) ? 200 : 404).end(objects.get(url));
      }
    });
  });
  const port = await listening(t, server);
  const house = await auditHouse(t, {
    environment: {
      ...reachable,
      SVC_AUDIT_SINK: `http://127.0.0.1:${port}/audit`,
      SVC_AUDIT_SINK_SECRET: 'canary-of-the-sink',
    },
  });
  await post(house, 'entries', { text: 'one' }, as('anna'));
  await post(house, 'entries', { text: 'two' }, as('vera'));
  const state = (): Promise<Record<string, unknown>> => house.json(`${trailPath}/sink`);
  await until(async () => (await state())['shipped'] === 2, 'it has both');
  assertWhole(
    entriesIn(
      got
        .slice(1)
        .map(({ body }) => body)
        .join(''),
    ),
    2,
  );
  assert.equal((await state())['sink'], `http://127.0.0.1:${port}`, 'its path may be a secret');
  for (const { headers, body } of got) {
    const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      String(headers['x-svc-signature']),
    )!;
    const expected = createHmac('sha256', 'canary-of-the-sink').update(`${seconds}.${body}`);
    assert.equal(signature, expected.digest('hex'));
    const { id, hash } = entriesIn(body).at(-1)!;
    assert.equal(headers['x-svc-audit-head'], `${id}:${hash}`, 'the head of the chain is told');
  }

  // The same data with another sink: what it has is counted for itself. Its rows wait a minute for others.
  const rows = withoutTriggers(house.dataDir, (database) =>
    database.prepare('select seq, key_id, record, prev_hash, hash from audit_log').all(),
  ) as unknown as Batch;
  const store = objectStoreSink(
    {
      url: new URL(`http://127.0.0.1:${port}/bucket/svc`),
      secret: 's',
      ca: '',
      now: Date.now,
      async fetch(url, { method = 'GET', headers = {}, body }) {
        const reply = await fetch(url, { method, headers, body: (body ?? null) as string | null });
        return {
          status: reply.status,
          headers: {},
          body: Buffer.from(await reply.arrayBuffer()),
          url,
        };
      },
    },
    { id: 'key', region: 'eu-central-1' },
  );
  got.length = 0;
  const { signal } = new AbortController();
  await store.send(rows, signal);
  await store.send(rows, signal);
  const [[name, text]] = [...objects] as [[string, string]];
  assert.match(name, /^\/bucket\/svc\/000000000001-000000000002-[0-9a-f]{16}\.jsonl$/);
  assertWhole(entriesIn(text), 2);
  assert.deepEqual(
    got.map(({ method, headers }) => [method, headers['if-none-match']]),
    [
      ['PUT', '*'],
      ['PUT', '*'],
      ['GET', undefined],
    ],
    'what is there is compared, and not written over',
  );
  assert.equal(
    got[0]!.headers['x-amz-content-sha256'],
    createHash('sha256').update(text).digest('hex'),
  );
  assert.match(
    String(got[0]!.headers['authorization']),
    /^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/eu-central-1\/s3\/aws4_request, SignedHeaders=content-type;host;if-none-match;x-amz-checksum-sha256;x-amz-content-sha256;x-amz-date;x-amz-meta-head, Signature=[0-9a-f]{64}$/,
  );
  objects.set(name, text.replace('anna', 'vera'));
  await assert.rejects(store.send(rows, signal), /already has an object .* with different content/);
  refuses = 1;
  await assert.rejects(store.send(rows, signal), /responded with status 503/);
});

test('a receiver that ends a connection before it was sent everything has not got it', async (t) => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.end();
    setTimeout(() => socket.destroy(), 200);
  });
  const port = await listening(t, server);
  const sink = syslogSink({
    protocol: 'tcp',
    host: '127.0.0.1',
    port,
    ca: '',
    name: 'here',
    addressOf: async () => '127.0.0.1',
  });
  const row = { seq: 1, key_id: 1, record: '{"status":"success"}', prev_hash: '', hash: '' };
  for (let times = 0; times < 5; times += 1) {
    await assert.rejects(sink.send([row], new AbortController().signal));
  }
});

test('svc that is killed while it ships loses nothing and changes no order', async (t) => {
  const received: string[] = [];
  const server = createServer((socket) => {
    let text = '';
    socket.on('data', (part) => (text += part.toString('utf8')));
    socket.on('error', () => undefined);
    // A batch counts when it is whole: one that a kill has cut off is sent again.
    socket.on('end', () => received.push(text));
  });
  const port = await listening(t, server);
  const root = checkout(t, 'audit');
  const dataDir = join(root, '..', 'data');
  mkdirSync(dataDir, { recursive: true });
  const env = { ...reachable, SVC_AUDIT_SINK: `syslog+tcp://127.0.0.1:${port}` };
  let acknowledged = 0;
  for (let kills = 0; kills < 2; kills += 1) {
    const svc = await serving(t, dataDir, { root, env });
    const asked = Array.from({ length: 40 }, async (_, at) => {
      await pause(at * 10);
      const { status } = await svc.fetch(trailPath).catch(() => ({ status: 0 }));
      acknowledged += status === 200 ? 1 : 0;
    });
    await pause(330);
    await svc.end('SIGKILL');
    // A process that was killed leaves where it was reached.
    rmSync(join(dataDir, 'run.json'));
    await Promise.all(asked);
  }
  const svc = await serving(t, dataDir, { root, env });
  const state = async (): Promise<{ behind: number; last: number }> =>
    (await (await svc.fetch(`${trailPath}/sink`)).json()) as { behind: number; last: number };
  await until(async () => (await state()).behind === 0, 'everything is shipped');
  const { last } = await state();
  assert.ok(acknowledged > 0 && last >= acknowledged, `${acknowledged} acknowledged, ${last} kept`);
  const file = join(folder(t), 'received');
  writeFileSync(file, received.join('\n').replaceAll(/(?<=\})\d+ </g, '\n<'));
  assertWhole(entriesIn(readFileSync(file, 'utf8')), last);
  const compared = await compare(file, async () =>
    Readable.from([await (await svc.fetch(`${trailPath}/export`)).text()]),
  );
  assert.deepEqual(compared, { ok: true, same: last, archived: 0, missing: 0 });
});
