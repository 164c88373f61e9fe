import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { peer } from '../../peers.ts';
import { shellHouse, until } from './house.ts';
import { startSshd } from './sshd.ts';
import type { Loose, Terminal } from './terminal.ts';

test('a shell on a machine with Debian’s SSH server', async (t: TestContext) => {
  const sshd = await startSshd(t);
  if (!sshd) {
    return;
  }
  const { house, device, person, ticket, open, ask, trail, clock, fleet } = await shellHouse(
    t,
    () => sshd.port,
  );
  const origin = house.url;
  const id = await device(1);
  const anna = await person('anna');
  const auth = { type: 'key', private_key: sshd.privateKey };
  const enter = async (more: { acks?: boolean; device?: number } = {}): Promise<Terminal> => {
    const on = more.device ?? id;
    const shell = await open(on, {
      ticket: await ticket(anna, on),
      origin,
      first: { user: sshd.user, auth },
      ...more,
    });
    await shell.frame('ready');
    return shell;
  };
  const ended = async (shell: Terminal, code: number): Promise<Loose> => {
    assert.equal((await shell.closed).code, code);
    const { session_id: session } = await shell
      .frame('ready')
      .catch(() => shell.frames.find(({ type }) => type === 'ready'));
    await until('the row says so', async () => {
      const { items } = (await ask('GET', '/webshell/sessions?state=ended')).body;
      return items.some((item: { id: number }) => item.id === session);
    });
    return (await ask('GET', '/webshell/sessions?state=ended')).body.items.find(
      (item: { id: number }) => item.id === session,
    );
  };
  const type = (shell: Terminal, line: string): void => shell.type(`${line}\n`);
  let recorded = 0;

  await t.test(
    'says what it is, shows what is typed and printed, and ends with its exit code',
    async () => {
      const shell = await enter();
      const ready = await shell.frame('ready');
      assert.equal(ready.host_key.trust, 'first_use');
      assert.equal(ready.recorded, true);
      const { items } = (await ask('GET', '/webshell/sessions', anna.access)).body;
      assert.deepEqual(
        [items.length, items[0].id, items[0].user_id, items[0].device_id, items[0].remote_user],
        [1, ready.session_id, anna.id, id, sshd.user],
      );
      shell.say({ type: 'resize', cols: 9_999, rows: 31 });
      await until('the window has its size', async () => {
        type(shell, 'stty size');
        return shell.text().includes('31 500');
      });
      type(
        shell,
        'printf "gr\\303\\274\\303\\237e \\360\\237\\246\\212"; printf "\\033[1m"; exit 3',
      );
      await shell.shows('grüße 🦊');
      assert.equal((await shell.frame('exit')).exit_code, 3);
      const row = await ended(shell, 1000);
      assert.deepEqual([row.exit_code, row.ended_by, row.recording.state], [3, 'exit', 'complete']);
      assert.ok(row.bytes_in > 0 && row.bytes_out >= shell.bytes().length);
      recorded = row.id;
      assert.deepEqual(fleet.asked.at(-1), {
        service: 'tcp',
        meta: { host: '127.0.0.1', port: 22 },
      });
    },
  );

  await t.test(
    'leaves a recording that an independent player plays, with the hash that the trail has',
    async (t) => {
      assert.equal((await ask('GET', `/webshell/recordings/${recorded}`, anna.access)).status, 403);
      const answer = await house.fetch(`/api/v1/webshell/recordings/${recorded}`);
      const file = Buffer.from(await answer.arrayBuffer());
      const [close] = await trail('webshell:close');
      assert.equal(
        createHash('sha256').update(file).digest('hex'),
        close.changes.after.recording.sha256,
      );
      assert.equal(file.length, close.changes.after.recording.bytes);
      const cast = gunzipSync(file);
      assert.deepEqual(
        Buffer.from(
          await (
            await house.fetch(`/api/v1/webshell/recordings/${recorded}?format=cast`)
          ).arrayBuffer(),
        ),
        cast,
      );
      assert.equal((await ask('GET', '/webshell/recordings')).body.items[0].id, recorded);

      const [player, terminal] = [peer(t, 'asciinema'), peer(t, 'script')];
      if (player === undefined || terminal === undefined) {
        return;
      }
      const path = join(house.dataDir, 'played.cast');
      writeFileSync(path, cast);
      const played = spawnSync(terminal, ['-qec', `${player} cat ${path}`, '/dev/null'], {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C.UTF-8', TERM: 'xterm' },
      });
      assert.match(played.stdout, /grüße 🦊/);
    },
  );

  await t.test('carries any bytes unchanged, however much comes at once', async () => {
    const source = join(house.dataDir, 'source.bin');
    const bytes = randomBytes(6 * 1024 * 1024);
    writeFileSync(source, bytes);
    const shell = await enter({ acks: true });
    type(shell, `stty raw -echo; printf 'BEGIN-H''ERE'; cat ${source}; printf 'THE-E''ND-OF-IT'`);
    await until(
      'all of it',
      () =>
        shell.bytes().length > bytes.length &&
        shell.bytes().includes('THE-END-OF-IT', bytes.length),
    );
    const from = shell.bytes().indexOf('BEGIN-HERE') + 10;
    assert.ok(shell.bytes().subarray(from, shell.bytes().indexOf('THE-END-OF-IT')).equals(bytes));
    shell.say({ type: 'close' });
    await ended(shell, 1000);
  });

  await t.test('stops the program on the device while the browser reads nothing', async () => {
    const shell = await enter();
    shell.ws.pause();
    type(shell, 'yes');
    const came = (): number => Math.max(...[...fleet.sockets].map(({ bytesRead }) => bytesRead));
    let before = -1;
    await until('nothing more comes', async () => {
      const [last, now] = [before, came()];
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return now === last && now > 100_000;
    });
    assert.ok(came() < 20 * 1024 * 1024, `${came()} bytes were taken from the device`);
    shell.ws.resume();
    type(shell, '\u0003echo st""ill');
    await shell.shows('still');
    shell.say({ type: 'close' });
    await ended(shell, 1000);
  });

  await t.test('waits for a browser that tells how far it has come and stops telling', async () => {
    const shell = await open(id, {
      ticket: await ticket(anna, id, sshd.user),
      origin,
      first: { auth, acks: true },
    });
    await shell.frame('ready');
    type(shell, 'yes');
    let before = -1;
    await until('nothing more comes', async () => {
      const [last, now] = [before, shell.bytes().length];
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return now === last && now > 100_000;
    });
    assert.ok(shell.bytes().length < 1024 * 1024);
    shell.say({ type: 'ack', bytes: shell.bytes().length });
    await until('it goes on', () => shell.bytes().length > before);
    shell.ws.close();
    await until(
      'the row says so',
      async () => (await ask('GET', '/webshell/sessions')).body.total === 0,
    );
  });

  await t.test('is ended by whoever may, and the trail says by whom', async () => {
    const shell = await enter();
    const { session_id: session } = await shell.frame('ready');
    const viewer = await person('vera', 'viewer');
    assert.equal((await ask('DELETE', `/webshell/sessions/${session}`, viewer.access)).status, 403);
    assert.equal((await ask('DELETE', `/webshell/sessions/${session}`)).status, 204);
    assert.equal((await ended(shell, 4410)).ended_by, 'killed');
    assert.equal((await ask('DELETE', `/webshell/sessions/${session}`)).status, 409);
    assert.equal((await ask('DELETE', '/webshell/sessions/999999')).status, 404);
    assert.equal(
      (await trail('webshell:kill')).find(({ status }) => status === 'success').actor.type,
      'operator',
    );
    await until('sshd has no connection any more', () => fleet.sockets.size === 0);
  });

  await t.test('ends when the right to it does: the role, the account, the session', async () => {
    const first = await enter();
    assert.ok(
      (await ask('PATCH', '/roles/shells', undefined, { grants: ['device:*'] })).status < 300,
    );
    assert.equal((await ended(first, 4403)).ended_by, 'revoked');
    assert.ok(
      (await ask('PATCH', '/roles/shells', undefined, { grants: ['webshell'] })).status < 300,
    );
    const second = await enter();
    assert.equal((await ask('POST', '/auth/logout-all', anna.access, {})).status < 300, true);
    await ended(second, 4403);
    const { body } = await ask('POST', '/auth/login', undefined, {
      email: anna.email,
      password: 'a long enough passphrase',
    });
    Object.assign(anna, { access: body.access_token });
    const third = await enter();
    assert.ok(
      (await ask('PATCH', `/users/${anna.id}/role`, undefined, { role: 'viewer' })).status < 300,
    );
    await ended(third, 4403);
    assert.ok(
      (await ask('PATCH', `/users/${anna.id}/role`, undefined, { role: 'shells' })).status < 300,
    );
    Object.assign(anna, {
      access: (
        await ask('POST', '/auth/login', undefined, {
          email: anna.email,
          password: 'a long enough passphrase',
        })
      ).body.access_token,
    });
  });

  await t.test('ends when nobody types for 15 minutes, with a warning before', async () => {
    const shell = await enter();
    clock.ahead += 13.5 * 60_000;
    await shell.frame('notice');
    clock.ahead += 2 * 60_000;
    assert.equal((await ended(shell, 4408)).ended_by, 'idle');
    const again = (
      await ask('POST', '/auth/login', undefined, {
        email: anna.email,
        password: 'a long enough passphrase',
      })
    ).body.access_token;
    Object.assign(anna, { access: again });
  });

  await t.test(
    'goes on when the token of the one who opened it has run out, and ends after 8 hours',
    async () => {
      const shell = await open(id, { bearer: anna.access, first: { user: sshd.user, auth } });
      await shell.frame('ready');
      for (let quarter = 0; quarter < 31; quarter += 1) {
        clock.ahead += 14 * 60_000;
        type(shell, `echo q""${quarter}`);
        await shell.shows(`q${quarter}`);
      }
      clock.ahead += 60 * 60_000;
      assert.equal((await ended(shell, 4411)).ended_by, 'max_duration');
      Object.assign(anna, {
        access: (
          await ask('POST', '/auth/login', undefined, {
            email: anna.email,
            password: 'a long enough passphrase',
          })
        ).body.access_token,
      });
    },
  );

  await t.test('frames that are none end it with 4400', async () => {
    for (const frame of [
      '{',
      '{"type":"open"}',
      '{"type":"ack","bytes":-1}',
      '{"type":"resize","cols":1}',
      'x'.repeat(1_000),
    ]) {
      const shell = await enter();
      shell.say(frame);
      assert.equal((await ended(shell, 4400)).ended_by, 'bad_frame');
    }
  });

  await t.test(
    'a login that the server refuses is told, written down, and not for ever repeated',
    async () => {
      const wrong = { type: 'password', password: 'Wr0ng-and-seen-nowhere' };
      const codes: number[] = [];
      for (let time = 0; time < 6; time += 1) {
        codes.push(
          (
            await (
              await open(id, { bearer: anna.access, first: { user: sshd.user, auth: wrong } })
            ).closed
          ).code,
        );
      }
      assert.deepEqual(codes, [4401, 4401, 4401, 4401, 4401, 4409]);
      const denied = (await trail('webshell:login')).find(({ status }) => status === 'denied');
      assert.equal(denied.changes.after.remote_user, sshd.user);
      clock.ahead += 61_000;
    },
  );

  await t.test(
    'a host key that is not the one of the first time is refused until an administrator accepts it',
    async () => {
      await sshd.rekey();
      const first = { user: sshd.user, auth };
      assert.equal((await (await open(id, { bearer: anna.access, first })).closed).code, 4412);
      const [key] = (await ask('GET', '/webshell/host-keys')).body.items;
      assert.notEqual(key.refused.fingerprint, key.fingerprint);
      const accept = (token: string, fingerprint: string) =>
        ask('POST', `/webshell/host-keys/${id}/accept`, token, { fingerprint });
      assert.equal((await accept(anna.access, key.refused.fingerprint)).status, 403);
      assert.equal((await accept(house.token, key.fingerprint)).status, 409);
      assert.equal(
        (await accept(house.token, key.refused.fingerprint)).body.trusted_by,
        'administrator',
      );
      const shell = await open(id, { bearer: anna.access, first });
      assert.equal((await shell.frame('ready')).host_key.trust, 'known');
      shell.say({ type: 'close' });
      await ended(shell, 1000);
      assert.equal((await ask('DELETE', `/webshell/host-keys/${id}`)).status, 204);
      assert.equal((await ask('GET', '/webshell/host-keys')).body.total, 0);
    },
  );

  await t.test('a shell that cannot be recorded is none: 4500', async () => {
    const { items } = (await ask('GET', '/webshell/sessions?state=ended&limit=1')).body;
    const next = items[0].id + 1;
    symlinkSync(
      '/dev/full',
      join(house.dataDir, 'plugins', 'webshell', 'recordings', `${next}.cast.gz.sealed`),
    );
    const shell = await open(id, { bearer: anna.access, first: { user: sshd.user, auth } });
    assert.equal((await shell.closed).code, 4500);
    assert.equal(
      (await ask('GET', '/webshell/sessions?state=ended&limit=1')).body.items[0].ended_by,
      'record_failure',
    );
    assert.ok(
      (await ask('PUT', '/system-settings/webshell/recording', undefined, { value: 'off' }))
        .status < 300,
    );
    const free = await enter();
    assert.equal((await free.frame('ready')).recorded, false);
    free.say({ type: 'close' });
    assert.equal((await ended(free, 1000)).recording, null);
    assert.ok((await ask('DELETE', '/system-settings/webshell/recording')).status < 300);
  });

  await t.test('nothing secret is in the data folder, the log or the trail', async () => {
    const secrets = ['Wr0ng-and-seen-nowhere', sshd.privateKey.split('\n')[2]!];
    const files = readdirSync(house.dataDir, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile(),
    );
    assert.ok(files.length > 5);
    for (const { parentPath, name } of files) {
      const bytes = readFileSync(join(parentPath, name));
      secrets.forEach((secret) =>
        assert.equal(bytes.includes(secret), false, `${secret} in ${name}`),
      );
    }
    secrets.forEach((secret) =>
      assert.equal(
        house.lines.some((line) => line.includes(secret)),
        false,
      ),
    );
  });

  await t.test('an administrator removes a recording before its time', async () => {
    assert.equal((await ask('DELETE', `/webshell/recordings/${recorded}`)).status, 204);
    assert.equal((await ask('GET', `/webshell/recordings/${recorded}`)).status, 404);
    const { items } = (await ask('GET', '/webshell/recordings')).body;
    assert.ok(items.length > 0);
  });
});
