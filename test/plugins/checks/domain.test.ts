import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { HandClock } from '../alert/engine-house.ts';
import { until } from '../edge/house.ts';

const send = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

/** Answer in the form of RFC 9083, section 5.3, as far as it is about dates. */
const answerOf = (events: object[]): string =>
  JSON.stringify({
    objectClassName: 'domain',
    handle: 'XXXX',
    ldhName: 'example.org',
    status: ['locked', 'transfer prohibited'],
    events,
  });
const registered = { eventAction: 'registration', eventDate: '1990-12-31T23:59:59Z' };
const expires = { eventAction: 'expiration', eventDate: '2026-12-01T08:00:00Z', eventActor: 'x' };

test('the registration of a domain is read from its registry, with its end as a metric', async (t) => {
  let [status, body] = [200, answerOf([registered, expires])];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.accept}`);
    if (request.url === '/domain/example.org') {
      // rdap.org redirects to the server of the registry in this way.
      response.writeHead(302, { location: '/registry/domain/example.org' }).end();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/rdap+json' }).end(body);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const rdap = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = new HandClock(Date.UTC(2026, 10, 20));
  const house = await startTestHost(t, {
    plugins: ['checks', 'metricsdb'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    clock,
  });
  const domain = { kind: 'domain', target: 'example.org', server: `${rdap}/` };
  const run = () => house.json('/api/v1/checks/example.org/run', send({}));
  const made = await house.json('/api/v1/checks', send({ ...domain, retries: 0 }));
  assert.equal(made.interval_s, 21_600);
  const up = await run();
  assert.deepEqual(
    [up.state, up.readings[0].domain_expires_at, up.readings[0].findings[0].holds],
    ['up', '2026-12-01T08:00:00.000Z', true],
  );
  assert.ok(asked.includes('/registry/domain/example.org application/rdap+json'), String(asked));
  const written = await until('the date is written', async () => {
    const { data } = await house.json(
      `/prometheus/api/v1/query?query=probe_domain_expiry&time=${clock.now() / 1_000}`,
    );
    return data.result[0]?.value[1];
  });
  assert.equal(Number(written), Date.UTC(2026, 11, 1, 8) / 1_000);

  const causes: [number, string, RegExp][] = [
    [404, '{"errorCode":404}', /knows no domain example\.org/],
    [429, '', /responded with status 429/],
    [200, answerOf([registered]), /no expiry date/],
    [200, answerOf([{ ...expires, eventDate: 'soon' }]), /no expiry date/],
    [200, '<html>', /no expiry date/],
    [200, '{"events":{"eventAction":"expiration"}}', /no expiry date/],
    [200, answerOf([{ ...expires, eventDate: '2026-11-19T00:00:00Z' }]), /DOMAIN_EXPIRATION/],
  ];
  for (const [nextStatus, nextBody, cause] of causes) {
    [status, body] = [nextStatus, nextBody];
    const { state, cause: found } = await run();
    assert.equal(state, 'down', String(cause));
    assert.match(found, cause);
  }

  const refused = async (order: object): Promise<string> =>
    (
      (await (await house.fetch('/api/v1/checks/try', send({ ...domain, ...order }))).json()) as {
        message: string;
      }
    ).message;
  assert.match(await refused({ target: '192.0.2.1' }), /must be a domain/);
  assert.match(await refused({ target: 'https://example.org/' }), /must be a domain/);
  assert.match(await refused({ server: 'rdap.example.org' }), /must be an http/);
  assert.match(await refused({ interval_s: 60 }), /at least 3600/);
  const ofHttp = { kind: 'http', target: 'https://example.org/', server: undefined };
  assert.match(
    await refused({ ...ofHttp, conditions: ['[DOMAIN_EXPIRATION] > 720h'] }),
    /is for checks of kind domain/,
  );
});
