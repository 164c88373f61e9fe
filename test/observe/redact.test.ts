import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { isSecretName, redact, redactText } from '../../core/observe/index.ts';

const pem =
  '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nCANARY\n-----END OPENSSH PRIVATE KEY-----';

/** Ways a secret gets into a log line; each holds CANARY where the secret is. */
const leaks: Record<string, unknown> = {
  'a field by name': { password: 'CANARY' },
  'a camel-case name': { apiKey: 'CANARY' },
  'a header name': { 'X-Api-Key': 'CANARY' },
  'a deep field': { a: [{ b: { client_secret: 'CANARY' } }] },
  'a number': { pin: Number('4711').toString() + 'CANARY' },
  'a list under a secret name': { tokens: ['CANARY'] },
  'an object under a secret name': { credentials: { user: 'CANARY' } },
  'a Map': new Map([['authorization', 'CANARY']]),
  'fetch headers': new Headers({ cookie: 'sid=CANARY' }),
  'raw headers': { rawHeaders: ['Host', 'x', 'Authorization', 'CANARY'] },
  'a name and value pair': [{ name: 'Authorization', value: 'CANARY' }],
  'a bearer header in text': 'sent authorization: Bearer CANARY',
  'a bearer token alone': 'got Bearer CANARY back',
  'basic credentials': 'Basic dXNlcjpDANARYCANARY==',
  'a URL with credentials': 'cannot reach https://bob:CANARY@example.org/x',
  'a URL with a token for a user': 'clone https://CANARY@github.com/a/b.git',
  'a URL object': { url: new URL('postgres://u:CANARY@db/x') },
  'a query parameter': 'GET /x?access_token=CANARY&y=1',
  'a key in a query': 'https://oapi.example/send?key=CANARY',
  'JSON in text': 'upstream said {"user":"a","password":"CAN\\"CANARY","x":1}',
  'escaped JSON in text': 'body "{\\"password\\":\\"CANARY word CANARY\\"}"',
  'an inspected object in text': "options: { password: 'CANARY two CANARY' }",
  'a key and value in text': 'connect failed password=CANARY host=db',
  'a key in a header of its own': 'X-Foo-Key: CANARY',
  'a cookie line': 'set-cookie: sid=CANARY; Path=/; other=CANARY',
  'a JWT': 'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJDQU5BUlkifQ.CANARYCANARY',
  'a PEM block': pem,
  'a PEM block without its end': pem.slice(0, -30),
  'an edge secret': 'svc_sk_CANARY',
  'an API token': 'svc_pat_CANARY',
  'another key of ours': 'svc_enr_CANARYCANARYCANARY1',
  'a socket ticket': 'svc.shell.v1, svc.ticket.CANARY',
  'a model vendor key': 'sk-proj-CANARYCANARY',
  'a GitHub token': 'ghp_CANARYCANARYCANARY',
  'a Slack token': 'xoxb-1-CANARY',
  'a Telegram address': 'https://api.telegram.org/bot123456:CANARY/sendMessage',
  'a Slack webhook': 'POST https://hooks.slack.com/services/T1/B1/CANARY failed',
  'an error message': new Error('Bearer CANARY refused'),
  'an error cause': new Error('outer', {
    cause: new Error('inner', { cause: { headers: { authorization: 'CANARY' } } }),
  }),
  'an aggregate': new AggregateError([new Error('https://u:CANARY@h')], 'all failed'),
  'an error with its request': Object.assign(new Error('socket closed'), {
    code: 'UND_ERR_SOCKET',
    request: { headers: 'authorization: Bearer CANARY\r\n' },
  }),
  'a key that is a secret': { 'Bearer CANARY': 1 },
  bytes: { body: Buffer.from('CANARY') },
};

for (const [way, value] of Object.entries(leaks)) {
  test(`a secret does not leak through ${way}`, () => {
    const written = JSON.stringify(redact({ value }));
    assert.doesNotMatch(written, /CANARY/);
  });
}

test('what is not a secret stays readable', () => {
  const plain = {
    max_tokens: 4096,
    token_ttl_seconds: 900,
    password_set: true,
    token: null,
    token_type: 'Bearer',
    access_key: 'svc_ak_0123456789ABCDEF',
    url: 'https://example.org:8443/a?x=1#b@c',
    text: 'Basic authentication failed; exit code=1, key=cpu, svc_http_requests_total is up',
    when: '2026-11-20T18:09:00.000Z',
  };
  assert.deepEqual(redact(plain), plain);
});

test('an error keeps its story', () => {
  const told = redact(
    Object.assign(new Error('cannot connect', { cause: new Error('refused') }), {
      code: 'ECONNREFUSED',
    }),
  ) as Record<string, unknown>;
  assert.equal(told['message'], 'cannot connect');
  assert.equal(told['code'], 'ECONNREFUSED');
  assert.equal((told['cause'] as Record<string, unknown>)['message'], 'refused');
  assert.match(String(told['stack']), /redact\.test\.ts/);
});

test('a cycle, a thrower, a deep tree and a wide one are written in bounds', () => {
  const cycle: Record<string, unknown> = { name: 'a' };
  cycle['self'] = cycle;
  const thrower = Object.defineProperty({}, 'x', {
    enumerable: true,
    get: () => assert.fail('read'),
  });
  const deep = Array.from({ length: 100 }).reduce<unknown>((inner) => ({ inner }), 'bottom');
  const wide = Array.from({ length: 10_000 }, (_, at) => ({ at, list: [1, 2, 3] }));
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const written = redact({ cycle, thrower, deep, wide, proxy }) as Record<string, unknown>;
  assert.deepEqual(written['cycle'], { name: 'a', self: '[circular]' });
  assert.equal(written['thrower'], '[unreadable]');
  assert.equal(written['proxy'], '[unreadable]');
  assert.ok(JSON.stringify(written).length < 20_000);
});

test('long text is cut, and a secret at the cut does not survive in part', () => {
  const text = redactText(`${'x '.repeat(8_185)}svc_sk_CANARYCANARYCANARY`);
  assert.ok(text.length < 9_000);
  assert.match(text, /characters\)$/);
  const shrunk = redactText(
    `${pem.replace('CANARY', 'A'.repeat(12_000))} ${'y '.repeat(2_130)}svc_sk_CANARYCANARY`,
  );
  assert.doesNotMatch(shrunk, /CANARY|svc_sk/);
});

test('a name such as __proto__ changes nothing but the copy', () => {
  const copied = redact(JSON.parse('{"__proto__":{"polluted":true}}')) as object;
  assert.deepEqual(Object.keys(copied), ['__proto__']);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('names are recognised however they are spelt', () => {
  for (const name of [
    'password',
    'PASSWD',
    'db_password',
    'X-Auth-Token',
    'refreshToken',
    'private_key',
    'encrypt_key',
    'set-cookie',
    'clientSecret',
  ]) {
    assert.equal(isSecretName(name), true, name);
  }
  for (const name of ['name', 'rule_key', 'access_key', 'public_key', 'token_type', 'passenger']) {
    assert.equal(isSecretName(name), false, name);
  }
});

test('hostile text of the largest size is redacted within a moment', () => {
  const seeds = [
    '-----BEGIN X-----',
    'eyJaaaaa-',
    '"password":"',
    '\\"token\\":\\"',
    '://',
    'Bearer ',
    'token=',
    'x-',
    'a',
    ' ',
    'sk-',
    'bot1',
    '12345678:',
    'svc_abc_',
    '\\',
  ];
  const began = performance.now();
  for (const seed of seeds) {
    redactText(seed.repeat(20_000));
  }
  assert.ok(performance.now() - began < 5_000);
});

test('any value at all can be redacted and written', () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withNullPrototype: true,
      }),
      (value) => {
        JSON.stringify(redact(value));
      },
    ),
    { numRuns: 300 },
  );
});
