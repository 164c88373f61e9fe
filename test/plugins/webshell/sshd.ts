import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import { peer } from '../../peers.ts';

export interface Sshd {
  readonly port: number;
  readonly user: string;
  /** Signs in as that user. */
  readonly privateKey: string;
  /** Lets another key sign in. */
  authorize(publicKey: string): void;
  /** Stops it and starts one with another host key on the same port. */
  rekey(): Promise<void>;
}

/**
 * Starts Debian's own SSH server on a high port, with a folder of its own; undefined if there is
 * none.
 */
export async function startSshd(t: Pick<TestContext, 'after' | 'skip'>): Promise<Sshd | undefined> {
  const program = peer(t, 'sshd');
  if (program === undefined) {
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-sshd-'));
  const user = userInfo().username;
  const port = await freePort();
  const makeKey = (name: string): void => {
    rmSync(join(folder, name), { force: true });
    const made = spawnSync(
      'ssh-keygen',
      ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', join(folder, name)],
      { encoding: 'utf8', input: '' },
    );
    if (made.status !== 0) {
      throw new Error(`ssh-keygen: ${made.stderr}`);
    }
  };
  makeKey('host');
  makeKey('login');
  writeFileSync(join(folder, 'authorized'), readFileSync(join(folder, 'login.pub')));
  chmodSync(join(folder, 'authorized'), 0o600);
  mkdirSync(join(folder, 'home'));
  writeFileSync(
    join(folder, 'config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host')}`,
      `PidFile ${join(folder, 'pid')}`,
      `AuthorizedKeysFile ${join(folder, 'authorized')}`,
      'StrictModes no',
      'UsePAM no',
      'PermitRootLogin yes',
      'PasswordAuthentication yes',
      'PrintMotd no',
      'PrintLastLog no',
      'MaxStartups 100',
      // What this machine's user has in the home folder is not what is tested; a shell that is killed in the middle of it would hold up the next.
      `SetEnv HOME=${join(folder, 'home')}`,
      '',
    ].join('\n'),
  );
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running && running.exitCode === null && running.signalCode === null) {
      const ended = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGTERM');
      await ended;
    }
  };
  const start = async (): Promise<void> => {
    const started = spawn(program, ['-D', '-e', '-f', join(folder, 'config')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    let said = '';
    started.stderr.on('data', (text: Buffer) => (said += text.toString('utf8')));
    for (const deadline = Date.now() + 20_000; !(await answers(port));) {
      if (Date.now() > deadline || started.exitCode !== null) {
        throw new Error(`sshd does not come up: ${said}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  // Debian's sshd separates its privileges into a folder that its unit would make.
  spawnSync('mkdir', ['-p', '/run/sshd']);
  await start();
  return {
    port,
    user,
    privateKey: readFileSync(join(folder, 'login'), 'utf8'),
    authorize: (publicKey) => appendFileSync(join(folder, 'authorized'), `${publicKey}\n`),
    async rekey() {
      await stop();
      makeKey('host');
      await start();
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
