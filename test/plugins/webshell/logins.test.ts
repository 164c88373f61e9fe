import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import ssh2 from 'ssh2';
import { SvcError } from 'svc/sdk';
import { useNoLeaks } from 'svc/testing';

import { shellHouse, until } from './house.ts';
import type { Loose } from './terminal.ts';

const right = 'Right-and-kept-nowhere';
const wrong = 'Wrong-and-kept-nowhere';

/** An SSH server with people of its own, because a test has no account on the machine that it runs on. */
async function passwordServer(t: TestContext): Promise<{ port: number; methods: Set<string> }> {
  const { Server, utils } = ssh2 as unknown as { Server: Loose; utils: Loose };
  const methods = new Set(['password', 'keyboard-interactive']);
  const ssh = new Server(
    { hostKeys: [utils.generateKeyPairSync('ed25519').private] },
    (client: Loose) => {
      client.on('error', () => {});
      client.on('authentication', (asked: Loose) => {
        if (!methods.has(asked.method)) {
          return asked.reject([...methods]);
        }
        if (asked.method === 'password') {
          return asked.password === right ? asked.accept() : asked.reject([...methods]);
        }
        asked.prompt([{ prompt: 'Password: ', echo: false }], (texts: string[]) =>
          texts[0] === right ? asked.accept() : asked.reject([...methods]),
        );
      });
      client.on('session', (accept: Loose) => {
        const session = accept();
        session.on('pty', (ok: Loose) => ok?.());
        session.on('shell', (ok: Loose) => {
          const channel = ok();
          channel.write('welcome\r\n');
          channel.on('data', (bytes: Buffer) => channel.write(bytes));
        });
      });
    },
  );
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.once('close', () => open.delete(socket)));
    ssh.injectSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    open.forEach((socket) => socket.destroy());
    server.close();
  });
  return { port: (server.address() as { port: number }).port, methods };
}

test('shells by password', async (t: TestContext) => {
  const { port, methods } = await passwordServer(t);
  const { house, device, open, ask, clock, fleet, trail } = await shellHouse(t, () => port);
  useNoLeaks(t, house);
  const id = await device(1);
  const enter = (password: string) =>
    open(id, {
      bearer: house.token,
      first: { user: 'root', auth: { type: 'password', password } },
    });

  await t.test(
    'a password is enough, asked for in either way, and a wrong one is not',
    async () => {
      for (const method of ['password', 'keyboard-interactive']) {
        methods.clear();
        methods.add(method);
        const shell = await enter(right);
        await shell.shows('welcome');
        shell.say({ type: 'close' });
        assert.equal((await shell.closed).code, 1000);
        assert.equal((await (await enter(wrong)).closed).code, 4401);
      }
      methods.add('password');
    },
  );

  await t.test(
    'neither password is kept anywhere: not on the disk, not in what is written there sealed, not in the log',
    async () => {
      const { items } = (await ask('GET', '/webshell/recordings')).body;
      const kept = [...house.lines.map((line) => Buffer.from(line))];
      for (const { parentPath, name } of readdirSync(house.dataDir, {
        recursive: true,
        withFileTypes: true,
      }).filter((entry) => entry.isFile())) {
        kept.push(readFileSync(join(parentPath, name)));
      }
      for (const { id: recording } of items) {
        kept.push(
          Buffer.from((await ask('GET', `/webshell/recordings/${recording}?format=cast`)).text),
        );
      }
      assert.ok(items.length === 2 && kept.at(-1)!.includes('welcome'));
      for (const password of [right, wrong]) {
        assert.equal(kept.filter((bytes) => bytes.includes(password)).length, 0, password);
      }
    },
  );

  await t.test('what is typed before there is a shell waits for it', async () => {
    const shell = await open(id, { bearer: house.token });
    const connection = (shell.ws as unknown as { _socket: Socket })._socket;
    connection.cork();
    shell.say({
      type: 'open',
      cols: 80,
      rows: 24,
      term: 'xterm',
      user: 'root',
      auth: { type: 'password', password: right },
    });
    shell.type('typed at once');
    connection.uncork();
    await shell.shows('typed at once');
    shell.say({ type: 'close' });
    await shell.closed;
  });

  await t.test('what the edge refuses, and a tunnel that breaks, are told', async () => {
    const openStream = fleet.openStream;
    fleet.openStream = () =>
      Promise.reject(
        new SvcError('forbidden', 'the policy of this machine does not allow 127.0.0.1:22'),
      );
    assert.equal((await (await enter(right)).closed).code, 4403);
    fleet.openStream = openStream;
    const shell = await enter(right);
    await shell.shows('welcome');
    fleet.sockets.forEach((socket) => socket.destroy());
    assert.equal((await shell.closed).code, 4502);
  });

  await t.test('an operator of the machine is nobody’s account', async () => {
    const shell = await enter(right);
    await shell.shows('welcome');
    const { body } = await ask('GET', '/webshell/sessions');
    assert.equal(body.items[0].user_id, null);
    shell.say({ type: 'close' });
    await shell.closed;
  });

  await t.test('a device that is removed takes its shells and its host key along', async () => {
    const other = await device(2);
    const shell = await open(other, {
      bearer: house.token,
      first: { user: 'root', auth: { type: 'password', password: right } },
    });
    await shell.shows('welcome');
    fleet.up.delete(2);
    assert.equal((await ask('DELETE', `/devices/${other}`)).status, 204);
    assert.equal((await shell.closed).code, 4502);
    await until(
      'its key is forgotten',
      async () =>
        !(await ask('GET', '/webshell/host-keys')).body.items.some(
          (key: { device_id: number }) => key.device_id === other,
        ),
    );
  });

  await t.test('a reload of the room ends its shells, and says so', async () => {
    const shell = await enter(right);
    const { session_id: session } = await shell.frame('ready');
    await shell.shows('welcome');
    await house.reload('webshell');
    assert.ok([1001, 1012].includes((await shell.closed).code));
    await until(
      'the row says so',
      async () => (await ask('GET', '/webshell/sessions')).body.total === 0,
    );
    const row = (await ask('GET', '/webshell/sessions?state=ended')).body.items.find(
      (item: { id: number }) => item.id === session,
    );
    assert.deepEqual([row.ended_by, row.recording.state], ['manager_restart', 'complete']);
  });

  await t.test(
    'recordings are removed when they are too many, or too old, and the trail says why',
    async () => {
      const files = (): number =>
        readdirSync(join(house.dataDir, 'plugins', 'webshell', 'recordings')).length;
      assert.ok(files() > 3);
      const before = (await ask('GET', '/webshell/recordings')).body.total;
      assert.equal(files(), before);
      clock.ahead += 91 * 86_400_000;
      await house.reload('webshell');
      await until(
        'they are gone',
        async () => (await ask('GET', '/webshell/recordings')).body.total === 0 && files() === 0,
      );
      assert.equal((await trail('webshell:remove-recording')).length, before);
      assert.equal((await ask('GET', '/webshell/sessions?state=all')).body.total, 0);
    },
  );
});
