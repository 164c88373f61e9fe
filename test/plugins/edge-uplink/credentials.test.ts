import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { CredentialStore } from '../../../plugins/edge-uplink/credentials.ts';
import { flipBit } from '../../drill/flip-bit.ts';

const keys = {
  manager: 'https://manager.example',
  tunnel_path: '/internal/edge/tunnel',
  edge_id: 7,
  name: 'one',
  access_key: 'svc_ak_one',
  secret_key: 'svc_sk_one',
};

test('whichever bit of the kept keys is flipped, they are the old ones or edge.json is said to be damaged', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'edge.json');
  new CredentialStore(folder).take(keys);
  const whole = readFileSync(file);
  for (let at = 0; at < whole.length; at += 1) {
    writeFileSync(file, whole);
    flipBit(file, at);
    try {
      const { edge_id, access_key, secret_key } = new CredentialStore(folder).current()!;
      assert.deepEqual(
        [edge_id, access_key, secret_key],
        [keys.edge_id, keys.access_key, keys.secret_key],
        `byte ${at}`,
      );
    } catch (error) {
      assert.match(
        String(error),
        /edge\.json is damaged [^]* enrol this machine again/,
        `byte ${at}`,
      );
    }
  }
});

test('keys that an earlier version kept, without a checksum, are taken', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'edge.json'), JSON.stringify(keys));
  assert.equal(new CredentialStore(folder).current()?.secret_key, keys.secret_key);
});
