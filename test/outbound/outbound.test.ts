import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';

import { Outbound, parseAllowed, type Resolve } from '../../core/outbound/index.ts';
import type { ErrorCode, OutboundRequest } from '../../core/sdk/index.ts';

const nowhere: Resolve = (host, done) => done(new Error(`${host} is not known here`), []);
const leadsTo =
  (...addresses: string[]): Resolve =>
  (_host, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

async function peer(
  t: TestContext,
  listener: RequestListener,
): Promise<{ url: string; port: number; seen: number }> {
  const state = { url: '', port: 0, seen: 0 };
  const server = createServer((req, res) => {
    state.seen++;
    listener(req, res);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  state.port = (server.address() as AddressInfo).port;
  state.url = `http://127.0.0.1:${state.port}`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return state;
}

function outbound(
  t: TestContext,
  list: readonly string[] = [],
  resolve: Resolve = nowhere,
): Outbound {
  const networks = parseAllowed(list);
  const out = new Outbound(() => networks, resolve);
  t.after(() => out.close());
  return out;
}

const refuses = (
  out: Outbound,
  url: string,
  message: RegExp,
  request?: OutboundRequest,
  code: ErrorCode = 'invalid_argument',
): Promise<void> =>
  assert.rejects(out.fetch(url, request), (error: { code?: string; message: string }) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });

describe('a request to an address that somebody typed', () => {
  it('reaches a listed network and answers with status, headers and body', async (t) => {
    const { url } = await peer(t, (_req, res) =>
      res.writeHead(207, { 'X-Kind': 'a' }).end('hello'),
    );
    const reply = await outbound(t, ['127.0.0.0/8']).fetch(`${url}/x`);
    assert.equal(reply.status, 207);
    assert.equal(reply.headers['x-kind'], 'a');
    assert.equal(Buffer.from(reply.body).toString(), 'hello');
  });

  it('hands the body on piece by piece, waits for who takes it, and keeps nothing', async (t) => {
    const { url } = await peer(t, (_req, res) => {
      res.writeHead(206);
      res.write('one');
      setTimeout(() => res.end('two'), 20);
    });
    const taken: string[] = [];
    const reply = await outbound(t, ['127.0.0.0/8']).fetch(url, {
      onBody:
        ({ status }) =>
        async (piece) => {
          await new Promise((done) => setTimeout(done, 5));
          taken.push(`${status} ${Buffer.from(piece).toString()}`);
        },
    });
    assert.deepEqual([taken, reply.body.length], [['206 one', '206 two'], 0]);
    const refusing = outbound(t, ['127.0.0.0/8']).fetch(url, {
      onBody: () => () => Promise.reject(new Error('enough')),
    });
    await assert.rejects(refusing, /enough/);
  });

  it('ends a call whose peer is silent for longer than it may be, before its head and within its body', async (t) => {
    const { url } = await peer(t, (req, res) => {
      if (req.url === '/body') {
        res.write('one');
      }
    });
    for (const path of ['/head', '/body']) {
      await refuses(
        outbound(t, ['127.0.0.0/8']),
        url + path,
        /sent no data for 0\.05 s/,
        { idleMs: 50 },
        'upstream_error',
      );
    }
  });

  it('refuses this machine in every spelling, and says which setting would allow it', async (t) => {
    const { port, url } = await peer(t, (_req, res) => res.end());
    const out = outbound(t, [], leadsTo('127.0.0.1'));
    const spellings = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.1',
      '127.1',
      '[::1]',
      '[::ffff:7f00:1]',
      '[::ffff:127.0.0.1]',
      '①②⑦.0.0.1',
      'localhost',
      'localhost.',
      'innocent.example',
    ];
    for (const host of [
      ...spellings,
      '[64:ff9b::7f00:1]',
      '[::ffff:0:7f00:1]',
      '[2002:7f00:1::]',
      '[::7f00:1]',
      '[fe80::1]',
      '10.1.2.3',
      '192.168.0.1',
      '[fd12::1]',
    ]) {
      await refuses(out, `http://${host}:${port}/`, /outbound\.allow_private/);
    }
    assert.ok(url);
    const probe = await outbound(t, ['127.0.0.1']).fetch(url);
    assert.equal(probe.status, 200);
  });

  it('never calls metadata, multicast or the unspecified address, not even when everything is listed', async (t) => {
    const out = outbound(t, ['0.0.0.0/0', '::/0'], leadsTo('169.254.169.254'));
    for (const host of [
      '169.254.169.254',
      '[::ffff:a9fe:a9fe]',
      '[64:ff9b::a9fe:a9fe]',
      '[::ffff:0:a9fe:a9fe]',
      '168.63.129.16',
      'metadata.example',
      '[fd00:ec2::254]',
      '224.0.0.1',
      '[ff02::1]',
      '0.0.0.0',
      '0',
      '[::]',
    ]) {
      await refuses(out, `http://${host}/`, /never connects to/);
    }
  });

  it('refuses a name of which one address is refused, and connects to the address that was checked', async (t) => {
    const { port, seen } = await peer(t, (_req, res) => res.end());
    await refuses(
      outbound(t, ['10.0.0.0/8'], leadsTo('10.0.0.1', '127.0.0.1')),
      `http://two.example:${port}/`,
      /this machine/,
    );
    let turn = 0;
    const liar: Resolve = (_host, done) =>
      done(null, [{ address: turn++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }]);
    const reply = await outbound(t, ['127.0.0.0/8'], liar).fetch(`http://rebind.example:${port}/`);
    assert.equal(reply.status, 200);
    assert.equal(turn, 1);
    assert.equal(seen, 0);
  });

  it('checks each redirect again, counts them, and leaves credentials behind when the origin changes', async (t) => {
    const last = await peer(t, (req, res) => res.end(JSON.stringify(req.headers)));
    const first = await peer(t, (req, res) =>
      res
        .writeHead(302, {
          location:
            req.url === '/bad'
              ? 'http://169.254.169.254/'
              : req.url === '/loop'
                ? '/loop'
                : last.url,
        })
        .end(),
    );
    const out = outbound(t, ['127.0.0.0/8']);
    const options = {
      redirects: 2,
      headers: { authorization: 'Bearer x', 'x-api-key': 'y', accept: 'text/plain' },
    };
    const arrived = JSON.parse(
      Buffer.from((await out.fetch(`${first.url}/`, options)).body).toString(),
    ) as Record<string, string>;
    assert.equal(arrived['authorization'], undefined);
    assert.equal(arrived['x-api-key'], undefined);
    assert.equal(arrived['accept'], 'text/plain');
    await refuses(out, `${first.url}/bad`, /never connects to/, options);
    await refuses(
      out,
      `${first.url}/loop`,
      /redirected more than 2 times/,
      options,
      'upstream_error',
    );
    assert.equal((await out.fetch(`${first.url}/`)).status, 302);
  });

  it('ends an answer that is too large, a peer that is silent, and a call whose owner goes', async (t) => {
    const large = await peer(t, (_req, res) => res.end(Buffer.alloc(100_000)));
    const silent = await peer(t, () => undefined);
    const out = outbound(t, ['127.0.0.0/8']);
    await refuses(out, large.url, /larger than 1000 bytes/, { maxBytes: 1_000 }, 'upstream_error');
    await refuses(
      out,
      silent.url,
      /did not respond within 0.0495 s/,
      { timeoutMs: 49.5 },
      'upstream_error',
    );
    const owner = new AbortController();
    const call = out.fetch(silent.url, {}, owner.signal);
    owner.abort();
    await assert.rejects(call, /was cancelled/);
    await refuses(out, 'http://127.0.0.1:1/', / failed: /, {}, 'upstream_error');
    await refuses(out, 'http://unknown.example/', /not known here/, {}, 'upstream_error');
  });

  it('takes many calls of one owner at once, leaves nothing on its signal, and does not warn of that', async (t) => {
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', warned);
    t.after(() => process.off('warning', warned));
    const { url } = await peer(t, (_req, res) => void setTimeout(() => res.end('ok'), 50));
    const owner = new AbortController();
    const out = outbound(t, ['127.0.0.0/8']);
    await Promise.all(Array.from({ length: 30 }, () => out.fetch(url, {}, owner.signal)));
    await new Promise((done) => setTimeout(done, 50));
    assert.equal(getEventListeners(owner.signal, 'abort').length, 0);
    assert.deepEqual(warnings, []);
  });

  it('takes http and https without credentials in the address, and nothing else', async (t) => {
    const out = outbound(t);
    await refuses(out, 'file:///etc/passwd', /is not supported; use http/);
    await refuses(out, 'ftp://example.com/', /is not supported; use http/);
    await refuses(out, 'http://u:p@example.com/', /user name or a password/);
    await refuses(out, 'nonsense', /not a valid URL/);
  });

  it('keeps no connection over a change of the list', async (t) => {
    const { url } = await peer(t, (_req, res) => res.end());
    let networks = parseAllowed(['127.0.0.0/8']);
    const out = new Outbound(() => networks, nowhere);
    t.after(() => out.close());
    assert.equal((await out.fetch(url)).status, 200);
    networks = parseAllowed([]);
    await refuses(out, url, /allow_private/);
    await refuses(out, url.replace('127.0.0.1', '8.8.8.8'), /not this machine/, {
      reach: 'loopback',
    });
    assert.equal((await out.fetch(url, { reach: 'loopback' })).status, 200);
  });

  it('repeats at once what a peer has hung up on, where the peer can tell that it is the same', async (t) => {
    const answered = new WeakSet<Socket>();
    const { url } = await peer(
      t,
      (req, res) =>
        void (answered.has(req.socket)
          ? req.socket.destroy()
          : (answered.add(req.socket), res.end('new'))),
    );
    const out = outbound(t, ['127.0.0.0/8']);
    const keyed = { method: 'POST', body: '{}', headers: { 'Idempotency-Key': 'one' } } as const;
    for (const request of [{}, {}, keyed, keyed]) {
      assert.equal(Buffer.from((await out.fetch(url, request)).body).toString(), 'new');
    }
    await out.fetch(url);
    await refuses(out, url, / failed: /, { method: 'POST', body: '{}' }, 'upstream_error');
  });

  it('repeats nothing on a connection that was new', async (t) => {
    const state = await peer(t, (req) => void req.socket.destroy());
    await refuses(outbound(t, ['127.0.0.0/8']), state.url, / failed: /, {}, 'upstream_error');
    assert.equal(state.seen, 1);
  });

  it('can be stopped while the last piece of a whole answer is looked at', async (t) => {
    const { url } = await peer(t, (_req, res) => res.end('all of it'));
    const stop = new AbortController();
    const call = outbound(t, ['127.0.0.0/8']).fetch(url, {
      signal: stop.signal,
      onBody: () => () => stop.abort(),
    });
    await Promise.allSettled([call]);
    // What nobody listens for ends the process one turn later.
    await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it(
    'ends a kept connection before the time that its peer has announced',
    { timeout: 60_000 },
    async (t) => {
      const sockets: Socket[] = [];
      const { url } = await peer(t, (req, res) => {
        // The peer itself never ends it.
        sockets.push(req.socket.setTimeout(0));
        res.writeHead(200, { connection: 'keep-alive', 'keep-alive': 'timeout=2' }).end();
      });
      await outbound(t, ['127.0.0.0/8']).fetch(url);
      await once(sockets[0]!, 'end');
    },
  );

  it('names the entry of the list that is no network', () => {
    for (const text of ['10.0.0.0/33', 'lan', '10.0.0.0/8/8', '::/129', '']) {
      assert.throws(() => parseAllowed([text]), /outbound\.allow_private/);
    }
  });
});
