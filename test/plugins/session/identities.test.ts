import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sessionHouse } from './house.ts';

test('two thousand requests of fifty people at once are never mixed up', async (t) => {
  const { people, signIn, ask } = await sessionHouse(t);
  const crowd = Array.from({ length: 50 }, (_, i) =>
    people.add({ email: `p${i}@example.org`, role: 'viewer' }),
  );
  const tokens: { id: number; token: string }[] = [];
  for (const { id, email } of crowd) {
    tokens.push({ id, token: (await signIn(email)).access_token });
  }
  let done = 0;
  const worker = async (first: number): Promise<void> => {
    for (let i = 0; i < 40; i++) {
      const { id, token } = tokens[(first + i * 7) % tokens.length]!;
      const { status, body } = await ask('GET', '/api/v1/sessions', { token });
      assert.deepEqual(
        [status, body.total, body.items[0].user_id, body.items[0].current],
        [200, 1, id, true],
      );
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, first) => worker(first)));
  assert.equal(done, 2_000);
});
