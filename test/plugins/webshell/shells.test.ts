import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Principal } from 'svc/sdk';

import { createAuthority } from '../../../plugins/webshell/authority.ts';
import type { LiveShell } from '../../../plugins/webshell/shell.ts';
import { createShells } from '../../../plugins/webshell/shells.ts';

test('a right that ends without anybody telling is noticed within 30 s, and only its shells end', () => {
  const clock = { at: 0, now: () => clock.at, monotonic: () => clock.at };
  const people = new Map([1, 2].map((id) => [id, { status: 'active', grants: ['webshell'], version: 1 }]));
  const authority = createAuthority({ live: (id) => people.get(id) as never });
  const shells = createShells({ clock, authority });
  const ended: unknown[] = [];
  for (const id of people.keys()) {
    const principal: Principal = { kind: 'user', id: String(id), name: 'x', role: 'shells', grants: ['webshell'] };
    const end = (...why: unknown[]): Promise<void> => Promise.resolve(void ended.push([id, ...why]));
    shells.add({
      id,
      deviceId: 1,
      edgeId: 1,
      standing: authority.standing(principal)!,
      isAttached: true,
      bytesIn: 0,
      bytesOut: 0,
      receive() {},
      attach() {},
      left: () => Promise.resolve(),
      tick() {},
      end,
    } satisfies LiveShell);
  }
  people.get(1)!.grants = [];
  for (let second = 0; second < 29; second += 1) {
    clock.at += 1_000;
    shells.tick();
  }
  assert.deepEqual(ended, []);
  clock.at += 1_000;
  shells.tick();
  assert.deepEqual(ended, [[1, 'revoked', 'your right to this shell has ended']]);

  people.get(2)!.version = 2;
  clock.at += 30_000;
  shells.tick();
  assert.deepEqual(ended.at(-1), [2, 'revoked', 'your right to this shell has ended']);
});
