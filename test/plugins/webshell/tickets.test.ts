import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import type { TicketVerifier } from 'svc/contracts/session';

import { type OpenOptions, Refused } from './terminal.ts';
import { shellHouse, until } from './house.ts';

/** Port where nothing listens: whoever gets as far as an upgrade learns that in a frame. */
const nowhere = 9;

test('who may open a shell is decided before the upgrade', async (t: TestContext) => {
  const { house, device, person, ticket, open, ask, clock, fleet, trail } = await shellHouse(
    t,
    () => nowhere,
  );
  const [one, two] = [await device(1), await device(2)];
  const [anna, bert] = [await person('anna'), await person('bert')];
  const viewer = await person('vera', 'viewer');
  const origin = house.url;
  const refusal = async (id: number, options: OpenOptions): Promise<Refused> => {
    try {
      (await open(id, options)).ws.terminate();
    } catch (error) {
      assert.ok(error instanceof Refused, String(error));
      return error;
    }
    throw new Error('the upgrade was granted');
  };
  const granted = async (id: number, options: OpenOptions): Promise<void> => {
    const { ws, closed } = await open(id, options);
    ws.close();
    await closed;
  };

  await t.test('a ticket opens one socket; shown again it is nobody’s', async () => {
    const spent = await ticket(anna, one);
    await granted(one, { ticket: spent, origin });
    assert.equal((await refusal(one, { ticket: spent, origin })).status, 401);
  });

  await t.test('of many who show the same ticket at once, one is let in', async () => {
    const contested = await ticket(anna, one);
    const ends = await Promise.allSettled(
      Array.from({ length: 12 }, () => open(one, { ticket: contested, origin })),
    );
    const won = ends.filter((end) => end.status === 'fulfilled');
    assert.equal(won.length, 1);
    won.forEach(({ value }) => value.ws.terminate());
    ends
      .filter((end) => end.status === 'rejected')
      .forEach(({ reason }) => assert.equal((reason as Refused).status, 401));
  });

  await t.test(
    'a ticket is bound to its device, its origin, its address, its person, and 30 s',
    async () => {
      assert.equal((await refusal(two, { ticket: await ticket(anna, one), origin })).status, 401);
      assert.equal(
        (await refusal(one, { ticket: await ticket(anna, one), origin: 'https://evil.example' }))
          .status,
        403,
      );
      assert.equal(
        (await refusal(one, { ticket: await ticket(anna, one) })).status,
        401,
        'without an Origin',
      );
      assert.equal(
        (await refusal(one, { ticket: await ticket(anna, one), origin, localAddress: '127.0.0.2' }))
          .status,
        401,
      );
      assert.equal(
        (await refusal(one, { ticket: await ticket(anna, one), origin, bearer: viewer.access }))
          .status,
        403,
        'it gives nobody else a right',
      );
      const late = await ticket(anna, one);
      clock.ahead += 31_000;
      assert.equal((await refusal(one, { ticket: late, origin })).status, 401);
      assert.equal((await refusal(one, { ticket: 'x'.repeat(43), origin })).status, 401);
    },
  );

  await t.test('a ticket opens a shell and nothing else that its person may see', async () => {
    const verifier = house.registry.current.contributions.get('session.credentials/ticket')!.value
      .value as TicketVerifier;
    const at = (path: string) => async () =>
      verifier.recognise(await ticket(anna, one), { ip: '127.0.0.1', path });
    assert.ok(await at(`/api/v1/devices/${one}/shell`)());
    for (const path of [
      '/loki/api/v1/tail',
      '/api/v1/users',
      `/api/v1/devices/${one}/shell/x`,
      '',
    ]) {
      assert.equal(await at(path)(), undefined, path);
    }
  });

  await t.test(
    'a ticket is worth nothing once its session has ended, its account is disabled or its password is another',
    async () => {
      const login = await ask('POST', '/auth/login', undefined, {
        email: bert.email,
        password: 'a long enough passphrase',
      });
      const again = { ...bert, access: login.body.access_token };
      const orphan = await ticket(again, one);
      assert.equal((await ask('POST', '/auth/logout', again.access)).status, 204);
      await until(
        'the end of the session is known',
        async () => (await refusal(one, { ticket: orphan, origin })).status === 401,
      );
      const stale = await ticket(bert, one);
      assert.ok(
        (
          await ask('PATCH', `/users/${bert.id}/password`, undefined, {
            password: 'another long passphrase',
          })
        ).status < 300,
      );
      assert.equal((await refusal(one, { ticket: stale, origin })).status, 401);
    },
  );

  await t.test(
    'a viewer may not, an API token with the action may, and a page elsewhere may not borrow it',
    async () => {
      assert.equal((await refusal(one, { bearer: viewer.access })).status, 403);
      assert.equal(
        (await ask('POST', '/webshell/tickets', viewer.access, { device_id: one })).status,
        403,
      );
      const expires_at = new Date(Date.now() + 86_400_000).toISOString();
      const token = async (actions: string[]): Promise<string> =>
        (await ask('POST', '/tokens', anna.access, { name: 'cli', actions, expires_at })).body
          .token;
      await granted(one, { bearer: await token(['webshell']) });
      assert.equal((await refusal(one, { bearer: await token([]) })).status, 403);
      assert.equal(
        (await refusal(one, { bearer: anna.access, origin: 'https://evil.example' })).status,
        403,
      );
    },
  );

  await t.test(
    'a credential in the address is refused with 400, whatever else is shown',
    async () => {
      for (const query of ['?token=x', '?access_token=x', '?ticket=x']) {
        assert.equal((await refusal(one, { query })).status, 400);
        assert.equal((await refusal(one, { query, bearer: anna.access })).status, 400);
      }
    },
  );

  await t.test(
    'an unknown device, one that is offline and one whose owner wants no shells are told apart',
    async () => {
      assert.equal((await refusal(999, { bearer: anna.access })).status, 404);
      assert.equal(
        (await ask('POST', '/webshell/tickets', anna.access, { device_id: 999 })).status,
        404,
      );
      fleet.up.delete(2);
      assert.equal((await refusal(two, { bearer: anna.access })).status, 503);
      fleet.allowed.webshell = false;
      assert.equal((await refusal(one, { bearer: anna.access })).status, 403);
      fleet.allowed.webshell = true;
    },
  );

  await t.test('five sockets a person are enough', async () => {
    const first = await Promise.all(
      Array.from({ length: 5 }, () => open(one, { bearer: anna.access })),
    );
    assert.equal((await refusal(one, { bearer: anna.access })).status, 429);
    first.forEach(({ ws }) => ws.terminate());
    await until('there is room again', async () => {
      try {
        await granted(one, { bearer: anna.access });
        return true;
      } catch {
        return false;
      }
    });
  });

  await t.test('frames that are none are answered with 4400', async () => {
    const first = async (say: string | Uint8Array): Promise<number> => {
      const { ws, closed } = await open(one, { bearer: anna.access });
      ws.send(say);
      return (await closed).code;
    };
    const auth = { type: 'password', password: 'x' };
    const good = { type: 'open', cols: 80, rows: 24, term: 'xterm', user: 'root', auth };
    const bad: unknown[] = [
      {},
      [],
      null,
      { ...good, cols: -1 },
      { ...good, rows: 'x' },
      { ...good, term: '$(id)' },
      { ...good, user: 'a b' },
      { ...good, user: undefined },
      { ...good, auth: { type: 'agent' } },
      { ...good, auth: { ...auth, more: 1 } },
      { ...good, auth: { type: 'key', private_key: 'none' } },
      { ...good, surplus: 1 },
      { type: 'resize', cols: 80, rows: 24 },
    ];
    for (const frame of bad) {
      assert.equal(await first(JSON.stringify(frame)), 4400, JSON.stringify(frame));
    }
    assert.equal(await first('{'), 4400);
    assert.equal(await first(Buffer.from('bytes')), 4400);
    assert.equal(await first('x'.repeat(64 * 1024 + 1)), 1009);
  });

  await t.test('what was refused stands in the trail, and no ticket does', async () => {
    const rows = await trail('webshell:open');
    assert.ok(rows.some(({ status, http_status: code }) => status === 'denied' && code === 401));
    assert.ok(rows.some(({ status, actor }) => status === 'success' && actor.email === anna.email));
  });
});
