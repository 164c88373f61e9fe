import assert from 'node:assert/strict';
import { test } from 'node:test';

import { liveKey, sealPlace } from '../../../../plugins/edge/record/live-key.ts';

test('what proves the manager to an edge is opened when the first handshake asks for it, and once', () => {
  const opened: unknown[] = [];
  const secrets = {
    open(place: unknown, sealed: string): string {
      opened.push(place);
      return sealed.replace('sealed ', '');
    },
  };
  const row = {
    edge_id: 7,
    generation: 2,
    stored_key: 'stored',
    server_key: 'sealed key',
    offer: null,
    dies_at: null,
    created_at: 1,
  };
  const key = liveKey(row, secrets);
  assert.deepEqual(opened, []);
  assert.deepEqual([key.server_key, key.server_key], ['key', 'key']);
  assert.deepEqual(opened, [sealPlace(7, 2)]);
  assert.deepEqual(
    [key.generation, key.stored_key, key.diesAt, key.offer],
    [2, 'stored', null, null],
  );
});
