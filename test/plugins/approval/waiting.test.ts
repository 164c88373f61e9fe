import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ApiClient } from 'svc/cli';

import { waiting } from '../../../plugins/approval/cli/approvals.ts';

const client = (approval: object): ApiClient => ({ get: async () => approval }) as never;

test('who may not sign a change is told so, before it is compared with anything', async () => {
  const change = { id: '7', status: 'pending', args_sha256: '' };
  await assert.rejects(
    waiting(client({ ...change, visible: false }), '7'),
    /the change 7 is for others to decide: your role does not include approval:sign/,
  );
  await assert.rejects(
    waiting(client({ ...change, status: 'denied', visible: true }), '7'),
    /is denied: there is nothing left to decide/,
  );
  assert.equal((await waiting(client({ ...change, visible: true }), '7')).id, '7');
});
