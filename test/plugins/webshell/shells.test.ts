import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Principal } from 'svc/sdk';

import { Authority } from '../../../plugins/webshell/rights/authority.ts';
import type { LiveShell } from '../../../plugins/webshell/shell/shell.ts';
import { Shells } from '../../../plugins/webshell/shell/shells.ts';

function stand() {
  const clock = { at: 0, now: () => clock.at, monotonic: () => clock.at };
  const people = new Map<
    number,
    { status: string; grants: string[]; version: number; selectors?: string[] }
  >([1, 2].map((id) => [id, { status: 'active', grants: ['webshell'], version: 1 }]));
  /** Devices of the customer acme. */
  const fleet = new Set([1]);
  const scopes = { of: () => Promise.resolve({ ids: fleet, enforce: [] }) };
  const authority = new Authority({ live: (id) => people.get(id) as never }, {
    available: true,
    get: () => scopes,
  } as never);
  const ended: unknown[] = [];
  const shellOf = (person: number, id = person): LiveShell & { isAwaited: boolean } => {
    const principal: Principal = {
      kind: 'user',
      id: String(person),
      name: 'x',
      role: 'shells',
      grants: ['webshell'],
    };
    return {
      id,
      deviceId: 1,
      edgeId: 1,
      standing: authority.standing(principal)!,
      isAttached: true,
      isAwaited: false,
      bytesIn: 0,
      bytesOut: 0,
      receive() {},
      assertShowable() {},
      attach() {},
      left: () => Promise.resolve(),
      tick() {},
      end: (...why: unknown[]) => Promise.resolve(void ended.push([id, ...why])),
    } as unknown as LiveShell & { isAwaited: boolean };
  };
  return { clock, people, fleet, ended, shellOf, shells: new Shells({ clock, authority }) };
}

test('a right that ends without anybody telling is noticed within 30 s, and only its shells end', () => {
  const { clock, people, ended, shellOf, shells } = stand();
  shells.add(shellOf(1));
  shells.add(shellOf(2));
  people.get(1)!.grants = [];
  for (let second = 0; second < 29; second += 1) {
    clock.at += 1_000;
    shells.tick();
  }
  assert.deepEqual(ended, []);
  clock.at += 1_000;
  shells.tick();
  assert.deepEqual(ended, [[1, 'revoked', 'you no longer have permission to use this shell']]);

  people.get(2)!.version = 2;
  clock.at += 30_000;
  shells.tick();
  assert.deepEqual(ended.at(-1), [2, 'revoked', 'you no longer have permission to use this shell']);
});

test('a shell ends once its person sees its device no more, and says so; the shells of others stay', async () => {
  const { people, fleet, ended, shellOf, shells } = stand();
  shells.add(shellOf(1));
  shells.add(shellOf(2));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  people.get(1)!.selectors = ['customer=acme'];
  shells.recheck();
  await settled();
  assert.deepEqual(ended, [], 'it is one of theirs');
  fleet.clear();
  shells.recheck();
  await settled();
  assert.deepEqual(ended, [[1, 'revoked', 'this device is not among those that you see any more']]);
});

test('shells that ended unseen are kept to tell how, the last 64 of them, and are not open', () => {
  const { shellOf, shells } = stand();
  const all = Array.from({ length: 66 }, (_, index) => shellOf(1, index + 1));
  for (const shell of all) {
    shells.add(shell);
    shell.isAwaited = shell.id !== 3;
    shells.remove(shell.id);
  }
  const kept = (): number[] =>
    all.map(({ id }) => id).filter((id) => shells.attachable(id) !== undefined);
  assert.deepEqual(
    kept(),
    all.map(({ id }) => id).filter((id) => id !== 1 && id !== 3),
  );
  assert.deepEqual([shells.list(), shells.get(66)], [[], undefined]);
  all.forEach((shell) => (shell.isAwaited = false));
  shells.tick();
  assert.deepEqual(kept(), []);
});
