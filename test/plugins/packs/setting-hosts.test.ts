import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hostsIn } from '../../../plugins/packs/rights/setting-hosts.ts';

test('a setting names the hosts of its addresses, with their ports', () => {
  assert.deepEqual(hostsIn('https://api.example.com/base'), ['api.example.com']);
  assert.deepEqual(
    hostsIn(['http://a.example.com:8080', 'https://B.example.com:443', 'http://[::1]:9/']),
    ['a.example.com:8080', 'b.example.com', '[::1]:9'],
  );
});

test('no value of a setting opens more than the hosts that it names', () => {
  const deep: unknown[] = [];
  let inner = deep;
  for (let level = 0; level < 20_000; level += 1) {
    const next: unknown[] = ['https://deep.example.com'];
    inner.push(next);
    inner = next;
  }
  for (const [at, value] of [
    undefined,
    null,
    7,
    {},
    '',
    '*',
    'api.example.com',
    'https://*.com/',
    'https://*/',
    'https://a.*.example.com/',
    'ftp://api.example.com/',
    'file:///etc/passwd',
    'javascript:fetch()',
    'https://',
    'https://a b/',
    [['https://inner.example.com']],
    deep,
  ].entries()) {
    assert.deepEqual(hostsIn(value), [], `value ${at}`);
  }
  assert.deepEqual(hostsIn('https://api.example.com@evil.example.net/'), ['evil.example.net']);
  assert.equal(
    hostsIn(Array.from({ length: 5_000 }, (_, at) => `https://h${at}.example.com`)).length,
    1_000,
  );
});
