import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { WebSocket } from 'ws';

import { household } from '../../trust/household.ts';

interface Tail {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

function tail(url: string, token: string): Tail {
  const path = `/loki/api/v1/tail?query=${encodeURIComponent('{app="x"}')}`;
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const closed = once(socket, 'close').then(([code, reason]) => ({
    code: code as number,
    reason: String(reason),
  }));
  return { socket, closed };
}

test('six live tails are what one person gets, and they end with the account or the session', async (t) => {
  const { house, person, ask } = await household(t, { plugins: ['iam', 'session', 'logs'] });
  const [vera, bob] = [await person('vera', 'viewer'), await person('bob', 'viewer')];
  const opened = async (token: string): Promise<Tail> => {
    const one = tail(house.url, token);
    await once(one.socket, 'open');
    return one;
  };
  const tails = [];
  for (let i = 0; i < 6; i++) {
    tails.push(await opened(vera.access));
  }
  const { reason } = await tail(house.url, vera.access).closed;
  assert.match(reason, /You already have 6 live tails open, which is the limit: close one/);
  const other = await opened(bob.access);

  tails[0]!.socket.close();
  await tails[0]!.closed;
  tails.push(await opened(vera.access));
  assert.equal(
    (await ask('PATCH', `/api/v1/users/${bob.id}`, house.token, { display_name: 'Bob' })).status,
    200,
  );
  assert.equal(
    (await ask('PATCH', `/api/v1/users/${vera.id}`, house.token, { status: 'disabled' })).status,
    200,
  );
  for (const { closed } of tails.slice(1)) {
    // The store says so, or the host, whichever looks first.
    const { code, reason: why } = await closed;
    assert.equal(code, 1008);
    assert.match(
      why,
      /^(?:the account or the session of this tail has ended; sign in again|your access has ended)$/,
    );
  }
  assert.equal(other.socket.readyState, WebSocket.OPEN, 'a new name ends nothing');
  assert.equal((await ask('POST', '/api/v1/auth/logout', bob.access)).status < 300, true);
  assert.equal((await other.closed).code, 1008);
});
