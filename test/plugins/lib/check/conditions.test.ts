import assert from 'node:assert/strict';
import { test } from 'node:test';

import { orderFault, parseCondition } from '../../../../plugins/lib/check/index.ts';
import { judge } from '../../../../plugins/lib/check/conditions/judge.ts';

const facts = {
  connected: true,
  error: null,
  took_ms: 120.4,
  phases: {},
  address: '192.0.2.7',
  status: 200,
  redirects: 1,
  final_url: 'https://shop.example.org/',
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: '{"status":"ok","items":[{"id":7,"name":"a*b"}],"free":0,"deep":{"none":null}}',
  certificate: {
    expires_at: 10 * 86_400_000,
    subject: 'shop.example.org',
    issuer: 'Example CA',
    names: null,
    serial: null,
    protocol: 'TLSv1.3',
    problem: null,
  },
};
const order = {
  kind: 'http',
  target: 'https://shop.example.org/',
  timeout_ms: 1_000,
  ip: 'any',
} as const;
const holds = (condition: string): boolean =>
  judge({ ...order, conditions: [condition] }, facts, 0).success;

test('conditions hold or do not, as those who know them from elsewhere expect', () => {
  const expected: Readonly<Record<string, boolean>> = {
    '[STATUS] == 200': true,
    '[STATUS] != 200': false,
    '[STATUS] < 300': true,
    '[STATUS] == any(200, 429)': true,
    '[STATUS] == any(201, 429)': false,
    '[RESPONSE_TIME] < 300': true,
    '[RESPONSE_TIME] < 100ms': false,
    '[IP] == 192.0.2.7': true,
    '[CONNECTED] == true': true,
    '[BODY].status == ok': true,
    '[BODY].status == "ok"': true,
    '[BODY].status != ok': false,
    '[BODY].items[0].id == 7': true,
    '[BODY].items[1].id == 7': false,
    'len([BODY].items) == 1': true,
    'len([BODY].status) == 2': true,
    'has([BODY].items[0].name) == true': true,
    'has([BODY].missing) == false': true,
    '[BODY].free == 0': true,
    '[BODY].deep.none == null': true,
    '[BODY] == pat(*"status":"ok"*)': true,
    '[BODY] != pat(*error*)': true,
    '[BODY].items[0].name == pat(a*b)': true,
    '[BODY].status == pat(o)': false,
    '[HEADER].content-type == pat(application/json*)': true,
    '[HEADER].Content-Type == pat(text/*)': false,
    '[CERTIFICATE_EXPIRATION] > 48h': true,
    '[CERTIFICATE_EXPIRATION] > 21d': false,
    '[CERTIFICATE_ISSUER] == Example CA': true,
    '[REDIRECTS] <= 1': true,
    '[URL] == https://shop.example.org/': true,
    '[BODY].status > a': false,
    '[BODY].constructor == nothing': true,
    '[BODY].__proto__.x == nothing': true,
  };
  assert.deepEqual(
    Object.keys(expected).filter((condition) => holds(condition) !== expected[condition]),
    [],
  );
});

test('a condition that does not hold says what was found instead', () => {
  const { success, cause, findings } = judge(
    { ...order, conditions: ['[STATUS] == 204', '[BODY].status == ok'] },
    facts,
    0,
  );
  assert.deepEqual([success, cause], [false, '[STATUS] == 204 does not hold: 200']);
  assert.deepEqual(findings, [
    { condition: '[STATUS] == 204', holds: false, found: '200' },
    { condition: '[BODY].status == ok', holds: true, found: 'ok' },
  ]);
});

test('what is not a condition or an order is refused with its field', () => {
  for (const text of [
    '[STATUS] 200',
    '[STATE] == 1',
    '[STATUS].x == 1',
    '[BODY]..x == 1',
    '== 1',
  ]) {
    assert.ok('fault' in parseCondition(text), text);
  }
  const faults = [
    [{ target: 'ftp://x' }, 'target'],
    [{ target: 'https://user:pass@x' }, 'target'],
    [{ kind: 'tcp', target: 'x' }, 'target'],
    [{ kind: 'tcp', target: 'x:70000' }, 'target'],
    [{ kind: 'ping', target: '-c 5' }, 'target'],
    [{ kind: 'ping', target: 'x', method: 'GET' }, 'method'],
    [{ headers: { 'x-a': 'b\r\nx-c: d' } }, 'headers/x-a'],
    [{ headers: { 'x a': 'b' } }, 'headers/x a'],
    [{ conditions: ['[STATUS] == 200', 'x'] }, 'conditions/1'],
    [{ kind: 'dns', target: 'x', server: 'http://x' }, 'server'],
    [{ kind: 'dns', target: 'x', ip: '6' }, 'ip'],
  ] as const;
  for (const [change, field] of faults) {
    assert.equal(orderFault({ ...order, conditions: [], ...change })?.field, field);
  }
  assert.equal(orderFault({ ...order, conditions: [] }), undefined);
});
