import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClientAddress } from '../../core/auth/index.ts';

test('without a trusted proxy the socket alone says who calls', () => {
  const addresses = new ClientAddress([]);
  assert.equal(addresses.of('9.9.9.9', '1.1.1.1'), '9.9.9.9');
  assert.equal(addresses.of('::ffff:9.9.9.9', undefined), '9.9.9.9');
  assert.equal(addresses.of(undefined, undefined), '');
  assert.equal(addresses.isProxy('127.0.0.1'), false);
});

test('a trusted proxy is believed, a stranger is not', () => {
  const addresses = new ClientAddress(['10.0.0.0/8', '::1', 'fd00::/8']);
  const cases: [string, string | undefined, string][] = [
    ['9.9.9.9', '1.1.1.1', '9.9.9.9'],
    ['10.1.2.3', '1.1.1.1', '1.1.1.1'],
    ['::ffff:10.1.2.3', '1.1.1.1', '1.1.1.1'],
    ['10.1.2.3', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
    ['10.1.2.3', '6.6.6.6, 1.1.1.1, 10.9.9.9', '1.1.1.1'],
    ['::1', '2001:db8::1', '2001:db8::1'],
    ['fd12::1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['10.1.2.3', '1.1.1.1:8080', '1.1.1.1'],
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '1.1.1.1, unknown', '10.1.2.3'],
    ['10.1.2.3', '10.0.0.1, 10.0.0.2', '10.1.2.3'],
    ['10.1.2.3', '<script>', '10.1.2.3'],
  ];
  for (const [peer, header, expected] of cases) {
    assert.equal(addresses.of(peer, header), expected, `${peer} ${header}`);
  }
});

test('a list that names no addresses stops with a sentence', () => {
  for (const entry of [
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/x',
    '10.0.0.0/',
    '',
    '::1/129',
    '/8',
  ]) {
    assert.throws(
      () => new ClientAddress([entry]),
      /SVC_TRUSTED_PROXIES contains ".*", which is neither an IP address nor a range/,
      entry,
    );
  }
});
