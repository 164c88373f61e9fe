import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  type Confinement,
  findConfinement,
  held,
} from '../../../plugins/packs/process/confinement.ts';
import { onDisk } from '../../on-disk.ts';

const look = `
  const fs = require('node:fs');
  const tried = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
  const [own, secret, host] = process.argv.slice(1);
  console.log(JSON.stringify({
    user: process.getuid(), environment: process.env,
    own: tried(() => fs.readFileSync(own)), secret: tried(() => fs.readFileSync(secret)), passwords: tried(() => fs.readFileSync('/etc/passwd')),
    write: tried(() => fs.writeFileSync(own, 'x')), place: tried(() => fs.writeFileSync('/tmp/x', 'x')), processes: tried(() => fs.readdirSync('/proc/1')),
    kill: tried(() => process.kill(Number(host), 0)), networks: Object.keys(require('node:os').networkInterfaces()),
  }));`;

/** Runs without the permission model: what is visible here is restricted by the system alone. */
function seenFrom(confinement: Confinement, as: readonly string[] = []): Record<string, unknown> {
  const home = realpathSync(mkdtempSync(join(onDisk(), 'svc-held-')));
  chmodSync(home, 0o777);
  try {
    const [pack, secret] = [join(home, 'pack'), join(home, 'svc.db')];
    mkdirSync(pack);
    writeFileSync(join(pack, 'own.txt'), 'mine', { mode: 0o666 });
    writeFileSync(secret, 'secret', { mode: 0o666 });
    const inside = [
      process.execPath,
      '-e',
      look,
      join(pack, 'own.txt'),
      secret,
      String(process.pid),
    ];
    const root = join(home, 'root');
    const [command, ...args] = [
      ...as,
      ...held(inside, {
        confinement,
        root,
        visible: [pack],
        network: false,
        user: 61_500,
        memoryMb: 1_024,
      }),
    ];
    if (as.length > 0) {
      chmodSync(root, 0o777);
    }
    const { stdout, stderr } = spawnSync(command!, args, { env: {}, encoding: 'utf8', cwd: '/' });
    assert.ok(stdout !== '', stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const isRoot = process.getuid?.() === 0;
const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const isolated = {
  environment: {},
  own: 'done',
  secret: 'ENOENT',
  passwords: 'ENOENT',
  write: 'EROFS',
  place: 'EROFS',
  processes: 'ENOENT',
  networks: [],
};

test(
  'as root the system holds a process of a pack in a user, a root and a network of its own',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const cache = mkdtempSync(join(onDisk(), 'svc-held-'));
    t.after(() => rmSync(cache, { recursive: true, force: true }));
    const found = await findConfinement(cache);
    if (found === 'none') {
      return t.skip('this system lends no namespaces');
    }
    const { user, kill, place, ...seen } = seenFrom('own-user');
    assert.deepEqual([found, user, kill], ['own-user', 61_500, 'EPERM']);
    assert.ok(['EROFS', 'ENOENT'].includes(place as string));
    assert.deepEqual({ ...seen, place: 'EROFS' }, isolated);
  },
);

test(
  'as a user the system holds it by namespaces',
  { skip: !isRoot && 'needs root to become a user' },
  (t) => {
    if (
      spawnSync('setpriv', [...nobody.slice(1), 'unshare', '--user', '--map-root-user', 'true'])
        .status !== 0
    ) {
      return t.skip('this system lends users no namespaces');
    }
    const { user: _user, kill: _kill, place, ...seen } = seenFrom('namespaces', nobody);
    assert.ok(['EROFS', 'ENOENT'].includes(place as string));
    assert.deepEqual({ ...seen, place: 'EROFS' }, isolated);
  },
);

test(
  'what spins in a pack ends with svc, also when that is killed',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const home = realpathSync(mkdtempSync(join(onDisk(), 'svc-held-')));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    if ((await findConfinement(home)) === 'none') {
      return t.skip('this system lends no namespaces');
    }
    const spins = [process.execPath, '-e', "console.log('up'); for (;;);"];
    const command = held(spins, {
      confinement: 'own-user',
      root: join(home, 'root'),
      visible: [],
      network: false,
      user: 61_501,
      memoryMb: 1_024,
    });
    const text = `const [command, ...args] = ${JSON.stringify(command)};
    const child = require('node:child_process').spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: {}, cwd: '/' });
    child.stdout.once('data', () => console.log(child.pid));`;
    const parent = spawn(process.execPath, ['-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(said.toString());
    assert.ok(pid > 0 && existsSync(`/proc/${pid}`));
    parent.kill('SIGKILL');
    for (
      const deadline = Date.now() + 20_000;
      existsSync(`/proc/${pid}`);
      await new Promise((resolve) => setTimeout(resolve, 20))
    ) {
      if (Date.now() > deadline) {
        process.kill(pid, 'SIGKILL');
        assert.fail('it is still there');
      }
    }
  },
);
