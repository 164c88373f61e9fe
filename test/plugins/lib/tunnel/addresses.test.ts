import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Addresses, isAddress, openSession, reconnects, TunnelRefusal } from 'svc/tunnel';

import { handClock, logBook } from './pair.ts';

const pin = (letter: string): string => `sha256/${letter.repeat(43)}=`;

test('addresses are taken in turn; the enrolled one stays, and what is less safe than it is left out', () => {
  const plain = new Addresses({ url: 'http://10.0.0.1:8080' });
  assert.deepEqual([plain.several, plain.next()], [false, undefined]);
  assert.deepEqual(
    plain.tell([{ url: 'http://10.0.0.1:8080/' }, { url: 'http://b' }, { url: 'http://c/svc/' }]),
    [],
  );
  const order = Array.from({ length: 4 }, () => [plain.next(), plain.current.url]);
  assert.deepEqual(order, [
    ['untried', 'http://b'],
    ['untried', 'http://c/svc/'],
    ['tried', 'http://10.0.0.1:8080'],
    ['untried', 'http://b'],
  ]);
  plain.tell([{ url: 'http://d' }, { url: 'http://b' }]);
  assert.equal(plain.current.url, 'http://b', 'the one in use stays in use');
  plain.tell([{ url: 'http://d' }]);
  assert.equal(plain.current.url, 'http://10.0.0.1:8080');

  const pinned = new Addresses({ url: 'https://a', pin: pin('A') });
  const told = [
    { url: 'http://b', pin: pin('B') },
    { url: 'https://c' },
    { url: 'https://a', pin: pin('E') },
    { url: 'https://d', pin: pin('D') },
  ];
  assert.deepEqual(
    pinned.tell(told).map(({ url }) => url),
    ['http://b', 'https://c'],
  );
  assert.deepEqual([pinned.next(), pinned.current], ['untried', told[3]]);
  assert.deepEqual([pinned.next(), pinned.current.pin], ['tried', pin('A')]);
  // One that held long begins a new round.
  pinned.next();
  assert.equal(pinned.next(3_600_000), 'untried');
});

test('only an http address without a password, a query or a strange pin is one', () => {
  const cases: [unknown, boolean][] = [
    [{ url: 'https://a/svc' }, true],
    [{ url: 'http://[::1]:80', pin: pin('A') }, true],
    [{ url: 'https://u:p@a' }, false],
    [{ url: 'https://a/?x' }, false],
    [{ url: 'file:///etc/passwd' }, false],
    [{ url: `https://${'a'.repeat(300)}` }, false],
    [{ url: 'https://a', pin: 'sha256/no' }, false],
    [{ url: 7 }, false],
    [null, false],
  ];
  for (const [value, is] of cases) {
    assert.equal(isAddress(value), is, JSON.stringify(value));
  }
});

test('the next address is tried within a second, all of them again within four, and a retry time that was asked for is kept', () => {
  const wait = reconnects(() => 0.999);
  const untried = { upMs: 0, error: new Error('refused'), others: 'untried' } as const;
  const tried = { ...untried, others: 'tried' } as const;
  const waits = Array.from({ length: 12 }, (_, n) => wait(n % 2 === 0 ? untried : tried));
  assert.ok(Math.max(...waits.filter((_, n) => n % 2 === 0)) <= 1_000, waits.join());
  assert.ok(Math.max(...waits) <= 4_000, waits.join());
  const fleet = reconnects(() => 0.999);
  assert.ok(fleet({ ...untried, spreadMs: 40_000 }) > 30_000, 'a large fleet spreads');
  const asked = new TunnelRefusal(4503, 'later', { minMs: 2_000, maxMs: 4_000 });
  assert.equal(Math.round(wait({ ...untried, error: asked })), 3_998);
  const stranger = new TunnelRefusal(4401, 'who are you');
  assert.ok(wait({ ...untried, error: stranger }) <= 1_000);
  assert.ok(wait({ ...tried, error: stranger }) >= 300_000, 'all of them have refused it');
});

test('an edge that knows another address finds out within seconds that its manager is silent', () => {
  const { sweeper, pass } = handClock();
  const sent: number[] = [];
  const session = openSession(
    {
      bufferedBytes: 0,
      send: () => void sent.push(1),
      close: () => undefined,
      terminate: () => undefined,
      onMessage: () => undefined,
      onClose: () => undefined,
      onDrain: () => undefined,
    },
    { side: 'edge', sweeper, log: logBook(), random: () => 0.5 },
  );
  session.pingEvery(4_000, 2);
  for (const secondsLeft of [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) {
    pass(1_000);
    assert.ok(session.live, `${secondsLeft} s too early`);
  }
  pass(1_500);
  assert.equal(session.live, false);
  assert.equal(sent.length, 2);
});
