import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { createOperatorToken, OperatorAuthenticator } from '../../core/auth/index.ts';
import { writeDurably } from '../../core/storage/index.ts';
import { realIds } from '../http/house.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-operator-'));
after(() => rmSync(dir, { recursive: true, force: true }));

test('each boot writes a new token that only its owner can read, whatever stood there before', () => {
  const keys = join(dir, 'keys');
  const first = createOperatorToken(keys, realIds, writeDurably);
  assert.equal(statSync(keys).mode & 0o777, 0o700);
  chmodSync(first.file, 0o644);
  const second = createOperatorToken(keys, realIds, writeDurably);
  assert.notEqual(first.token, second.token);
  assert.match(second.token, /^svc_op_[\w-]{43}$/);
  assert.equal(statSync(second.file).mode & 0o777, 0o600);
  assert.equal(readFileSync(second.file, 'utf8'), `${second.token}\n`);
  assert.deepEqual(readdirSync(keys), ['operator.token']);
});

test('what a crash left half written does not get in the way', () => {
  const keys = join(dir, 'crashed');
  createOperatorToken(keys, realIds, writeDurably);
  writeFileSync(join(keys, 'operator.token.tmp'), 'svc_op_ha', { mode: 0o644 });
  const { token, file } = createOperatorToken(keys, realIds, writeDurably);
  assert.equal(readFileSync(file, 'utf8'), `${token}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('the token opens as a bearer and nothing else does', async () => {
  const { token } = createOperatorToken(dir, realIds, writeDurably);
  const authenticator = new OperatorAuthenticator(token);
  const ask = (scheme: 'bearer' | 'basic' | 'ticket', value: string): unknown =>
    authenticator.authenticate({ scheme, value, ip: '127.0.0.1' });
  assert.deepEqual(ask('bearer', token), {
    kind: 'operator',
    id: 'operator',
    name: 'operator',
    role: 'admin',
    grants: ['*'],
  });
  for (const forged of [
    '',
    'svc_op_',
    token.slice(0, -1),
    `${token}x`,
    token.toUpperCase(),
    token.replace('svc_op_', ''),
    'x'.repeat(100_000),
  ]) {
    assert.equal(ask('bearer', forged), undefined);
  }
  assert.equal(ask('basic', token), undefined);
  assert.equal(ask('ticket', token), undefined);
});
