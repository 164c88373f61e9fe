import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { shellHouse, until } from './house.ts';
import { startSshd } from './sshd.ts';
import { type OpenOptions, Refused, type Terminal } from './terminal.ts';

test('a browser that is gone comes back to its shell', async (t: TestContext) => {
  const sshd = await startSshd(t);
  if (!sshd) {
    return;
  }
  const { house, device, person, ticket, open, ask, trail, clock } = await shellHouse(
    t,
    () => sshd.port,
  );
  const origin = house.url;
  const id = await device(1);
  const [anna, bert] = [await person('anna'), await person('bert')];
  const login = { user: sshd.user, auth: { type: 'key', private_key: sshd.privateKey } };

  const enter = async (acks = true): Promise<{ shell: Terminal; session: number }> => {
    const shell = await open(id, { ticket: await ticket(anna, id), origin, first: login, acks });
    return { shell, session: (await shell.frame('ready')).session_id };
  };
  const wish = (who: { access: string }, session: number, more: object = {}) =>
    ask(
      'POST',
      '/webshell/tickets',
      who.access,
      { device_id: id, session_id: session, ...more },
      { origin },
    );
  const back = async (session: number, from: number, acks = true): Promise<Terminal> =>
    open(id, {
      ticket: (await wish(anna, session)).body.ticket,
      origin,
      first: { type: 'attach', from },
      acks,
    });
  const sessions = async () =>
    (await ask('GET', '/webshell/sessions')).body.items as { id: number; attached: boolean }[];
  const drop = async (shell: Terminal): Promise<void> => {
    shell.ws.terminate();
    await until('the service knows', async () =>
      (await sessions()).some(({ attached }) => !attached),
    );
  };
  const ended = async (session: number) => {
    await until('it has ended', async () => !(await sessions()).some((row) => row.id === session));
    return (await ask('GET', '/webshell/sessions?state=ended')).body.items.find(
      (row: { id: number }) => row.id === session,
    );
  };

  await t.test(
    'and has missed nothing, though it went away in the middle, which the trail and the recording tell',
    async () => {
      const { shell, session } = await enter();
      shell.type(
        'stty -echo; for i in $(seq 1 40000); do echo "number $i of many"; done; echo the-e""nd\n',
      );
      await shell.shows('number 100 of');
      await drop(shell);
      const seen = shell.bytes();
      const again = await back(session, seen.length);
      const told = await again.frame('attached');
      assert.deepEqual([told.session_id, told.from, told.missed], [session, seen.length, 0]);
      await again.shows('the-end');
      const numbers = (text: string): string[] => text.match(/number \d+ of many/g) ?? [];
      const wanted = Array.from({ length: 40_000 }, (_, index) => `number ${index + 1} of many`);
      assert.deepEqual(numbers(Buffer.concat([seen, again.bytes()]).toString('utf8')), wanted);
      again.type('stty size; exit 4\n');
      assert.equal((await again.frame('exit')).exit_code, 4);
      const row = await ended(session);
      assert.deepEqual(
        [row.ended_by, row.attached, row.bytes_out],
        ['exit', false, seen.length + again.bytes().length],
      );
      const [came] = await trail('webshell:re-attach');
      assert.deepEqual(
        [came.actor.email, came.resource_id, came.changes.after.from],
        [anna.email, String(session), seen.length],
      );
      const cast = await (
        await house.fetch(`/api/v1/webshell/recordings/${session}?format=cast`)
      ).text();
      const printed = cast
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => JSON.parse(line) as [number, string, string])
        .filter(([, kind]) => kind === 'o')
        .map(([, , text]) => text)
        .join('');
      assert.deepEqual(numbers(printed), wanted);
    },
  );

  await t.test(
    'one that has lost all it had is shown the last 256 KiB, and told how much is gone',
    async () => {
      const { shell, session } = await enter(false);
      shell.type('stty -echo; head -c 700000 /dev/zero | tr \'\\0\' x; echo the-e""nd\n');
      await shell.shows('the-end');
      await drop(shell);
      const again = await back(session, 0);
      const { from, missed } = await again.frame('attached');
      await again.shows('the-end');
      assert.deepEqual([from, missed], [from, from]);
      assert.ok(from > 400_000 && again.bytes().length >= 256 * 1024 - 1);
      // Nothing is printed for nobody without end, and nobody is shown more than there was.
      again.type('yes\n');
      await again.shows('y\r\ny\r\n');
      await drop(again);
      await until('the shell waits', async () => {
        const before = (await ask('GET', '/webshell/sessions')).body.items[0].bytes_out;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return before === (await ask('GET', '/webshell/sessions')).body.items[0].bytes_out;
      });
      const wrong = await back(session, Number.MAX_SAFE_INTEGER);
      assert.equal((await wrong.closed).code, 4400);
      assert.ok(
        (await trail('webshell:re-attach')).every(
          ({ changes }) => changes.after.from !== Number.MAX_SAFE_INTEGER,
        ),
        'nor is it told as a return',
      );
      assert.equal((await ask('DELETE', `/webshell/sessions/${session}`)).status, 204);
      assert.equal((await ended(session)).ended_by, 'killed');
    },
  );

  await t.test('and hears how it ended while nobody watched, once, within the minute', async () => {
    const leaveAndEnd = async (): Promise<{ session: number; seen: number }> => {
      const { shell, session } = await enter();
      const signal = join(house.dataDir, `end-of-${session}`);
      shell.type(
        `stty -echo; echo rea""dy; until [ -e ${signal} ]; do sleep 0.05; done; echo la""st words; exit 3\n`,
      );
      await shell.shows('ready');
      await drop(shell);
      writeFileSync(signal, '');
      assert.equal((await ended(session)).exit_code, 3);
      return { session, seen: shell.bytes().length };
    };
    const { session, seen } = await leaveAndEnd();
    assert.equal((await wish(bert, session)).status, 404);
    const again = await back(session, seen);
    assert.equal((await again.frame('exit')).exit_code, 3);
    assert.ok(again.text().includes('last words'), again.text());
    assert.equal((await again.closed).code, 1000);
    await until('it is over', async () => (await wish(anna, session)).status === 404);

    const late = await leaveAndEnd();
    clock.ahead += 61_000;
    assert.equal((await wish(anna, late.session)).status, 404);
  });

  await t.test(
    'with a ticket for that shell alone, which only the one who opened it gets',
    async () => {
      const { shell, session } = await enter();
      assert.equal((await wish(bert, session)).status, 404);
      assert.equal((await wish(anna, session + 1)).status, 404);
      assert.equal((await wish(anna, session, { device_id: await device(2) })).status, 404);
      assert.equal((await wish(anna, session, { user: 'root' })).status, 400);
      const refused = async (first: object, options: OpenOptions): Promise<number> =>
        (await (await open(id, { ...options, first })).closed).code;
      assert.equal(
        await refused(login, { ticket: (await wish(anna, session)).body.ticket, origin }),
        4400,
        'it opens no other shell',
      );
      assert.equal(
        await refused({ type: 'attach', from: 0 }, { ticket: await ticket(anna, id), origin }),
        4400,
        'nor does one for a new shell lead to this one',
      );
      assert.equal(
        await refused({ type: 'attach', from: 0 }, { bearer: anna.access }),
        4400,
        'nor a token without a ticket',
      );
      const spent = (await wish(anna, session)).body.ticket;
      const second = await open(id, { ticket: spent, origin, first: { type: 'attach', from: 0 } });
      await second.frame('attached');
      await assert.rejects(
        open(id, { ticket: spent, origin }),
        (error) => error instanceof Refused && error.status === 401,
      );

      // The newest browser shows it; what the other one still says is not heard.
      assert.equal((await shell.closed).code, 4413);
      second.type('echo he""re\n');
      await second.shows('here');
      second.ws.close(1000);
      assert.equal((await ended(session)).ended_by, 'closed');
      assert.equal((await wish(anna, session)).status, 404);
    },
  );

  await t.test(
    'within a minute, in which the shell counts, can be killed, and ends with the right to it',
    async () => {
      const { shell, session } = await enter();
      const others = [await enter(), await enter(), await enter(), await enter()];
      const late = (await wish(anna, session)).body.ticket;
      await drop(shell);
      await assert.rejects(
        open(id, { bearer: anna.access }),
        (error) => error instanceof Refused && error.status === 429,
      );
      const again = await open(id, { ticket: late, origin, first: { type: 'attach', from: 0 } });
      await again.frame('attached');
      const last = (await wish(anna, session)).body.ticket;
      await drop(again);
      others.forEach(({ shell: other }) => other.ws.close());
      clock.ahead += 25_000;
      assert.ok((await sessions()).some((row) => row.id === session));
      clock.ahead += 36_000;
      assert.equal((await ended(session)).ended_by, 'closed');
      await assert.rejects(open(id, { ticket: last, origin }), (error) => error instanceof Refused);

      const revoked = await enter();
      await drop(revoked.shell);
      assert.ok(
        (await ask('PATCH', `/users/${anna.id}/role`, undefined, { role: 'viewer' })).status < 300,
      );
      assert.equal((await ended(revoked.session)).ended_by, 'revoked');
    },
  );
});
