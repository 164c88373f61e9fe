import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { debianPackage } from '../../bin/dev/packaging/debian.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const longMs = 900_000;
const patienceMs = 120_000;

/**
 * Tests the Debian package in a fresh Debian: installed by dpkg, run as its unit runs it, upgraded
 * with changed settings kept, removed with the data kept, purged with nothing left. `debian`: a
 * folder with such a root, which stays unchanged, or `this`: this machine's system under a layer
 * that takes all changes; made by debootstrap otherwise, which needs a network.
 */
export async function run({
  debian = '',
  binary = '',
}: { readonly debian?: string; readonly binary?: string } = {}): Promise<Outcome> {
  if (process.getuid?.() !== 0) {
    return { ok: false, why: 'only root can change roots' };
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
  const fresh = join(folder, 'root');
  const rows: Row[] = [];
  const step = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    const began = performance.now();
    const done = await work();
    rows.push({
      step: name,
      ok: true,
      seconds: Math.round((performance.now() - began) / 100) / 10,
    });
    say(JSON.stringify(rows.at(-1)));
    return done;
  };
  try {
    await step('a fresh Debian', () => freshDebian(fresh, String(debian)));
    const packages = await step('two packages', () => twoPackages(folder, String(binary)));
    const machine = new Machine(fresh);
    for (const file of packages) {
      copyFileSync(file, join(fresh, 'root', basename(file)));
    }
    await step('installed', () => installed(machine, packages[0]!));
    await step('serves as its user', () => serves(machine));
    await step('upgraded', () => upgraded(machine, packages[1]!));
    await step('removed', () => removed(machine));
    await step('purged', () => purged(machine));
    return { ok: true, steps: rows };
  } catch (error) {
    rows.push({ step: 'broke off', ok: false, seconds: 0 });
    say(String((error as Error).stack));
    return { ok: false, steps: rows };
  } finally {
    for (const mounted of [fresh, `${fresh}.layer`]) {
      spawnSync('umount', [mounted]);
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

function freshDebian(fresh: string, from: string): void {
  if (from === 'this') {
    overThisMachine(fresh, `${fresh}.layer`);
  } else if (from === '') {
    execFileSync('debootstrap', ['--variant=minbase', '--include=passwd', 'bookworm', fresh], {
      timeout: longMs,
      stdio: 'ignore',
    });
  } else {
    execFileSync('cp', ['-a', from, fresh]);
  }
}

/** Mounts a layer over this machine; changes are in memory, and disappear with it. */
function overThisMachine(fresh: string, layer: string): void {
  [fresh, layer].forEach((folder) => mkdirSync(folder));
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', layer]);
  ['upper', 'work'].forEach((name) => mkdirSync(join(layer, name)));
  execFileSync('mount', [
    '-t',
    'overlay',
    'overlay',
    '-o',
    `lowerdir=/,upperdir=${layer}/upper,workdir=${layer}/work`,
    fresh,
  ]);
  for (const [name, number] of [
    ['null', '3'],
    ['zero', '5'],
    ['urandom', '9'],
  ] as const) {
    execFileSync('mknod', ['-m', '666', join(fresh, 'dev', name), 'c', '1', number]);
  }
}

/**
 * Builds two packages of the same program, since the packaging is tested; the second has a later
 * version.
 */
async function twoPackages(folder: string, given: string): Promise<readonly string[]> {
  const binary = given === '' ? join(folder, 'svc') : given;
  if (given === '') {
    await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', 'bin/dev/build.ts', '--out', binary],
      { cwd: root, timeout: longMs },
    );
  }
  const packages: string[] = [];
  for (const version of ['1.0.0', '1.1.0']) {
    const out = join(folder, `svc_${version}_amd64.deb`);
    const workshop = mkdtempSync(join(folder, 'workshop-'));
    await debianPackage({
      binary,
      version,
      arch: process.arch,
      licence: readFileSync(join(root, 'LICENSE'), 'utf8'),
      out,
      workshop,
    });
    packages.push(out);
  }
  return packages;
}

class Machine {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Runs a program of that root and returns its output; it must succeed. */
  run(command: string, args: readonly string[], input = ''): string {
    const ran = spawnSync('chroot', [this.folder, command, ...args], {
      env: {
        PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
        DEBIAN_FRONTEND: 'noninteractive',
        HOME: '/root',
      },
      encoding: 'utf8',
      timeout: patienceMs,
      input,
    });
    assert.equal(ran.status, 0, `${command} ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout;
  }

  path(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }
}

function installed(machine: Machine, file: string): void {
  machine.run('dpkg', ['-i', `/root/${basename(file)}`]);
  assert.match(machine.run('dpkg', ['-s', 'svc']), /^Status: install ok installed$/m);
  assert.match(
    machine.run('getent', ['passwd', 'svc']),
    /^svc:x:\d+:\d+::\/var\/lib\/svc:\/usr\/sbin\/nologin$/m,
  );
  const mode = (path: string): string => (statSync(machine.path(path)).mode & 0o777).toString(8);
  assert.deepEqual(
    [
      mode('var/lib/svc'),
      mode('etc/svc/credentials'),
      mode('usr/bin/svc'),
      mode('etc/svc/svc.env'),
    ],
    ['700', '700', '755', '644'],
  );
  assert.match(machine.run('svc', ['version']), /^svc /m);
  assert.equal(machine.run('dpkg', ['--verify', 'svc']), '', 'every file is as it was packed');
}

/** Runs svc as in the unit: that user, that folder. */
async function serves(machine: Machine): Promise<void> {
  const unit = readFileSync(machine.path('lib/systemd/system/svc.service'), 'utf8');
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  const [program = '', ...args] = command.split(' ');
  const child = spawn(
    '/usr/sbin/chroot',
    ['--userspec=svc:svc', machine.folder, program, ...args],
    {
      env: { SVC_HTTP_ADDR: '127.0.0.1:0', SVC_EDGE_LOCAL: 'false', SVC_LOG_FORMAT: 'json' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  [child.stdout, child.stderr].forEach((stream) =>
    stream.on('data', (chunk) => (said += String(chunk))),
  );
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  try {
    const file = machine.path('var/lib/svc/run.json');
    for (const deadline = Date.now() + patienceMs; ; await pause(200)) {
      assert.ok(Date.now() < deadline && child.exitCode === null, said.slice(-3_000));
      const url = existsSync(file)
        ? (JSON.parse(readFileSync(file, 'utf8')) as { url: string }).url
        : undefined;
      if (url !== undefined && (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true) {
        break;
      }
    }
    machine.run(
      'svc',
      ['user', 'create', 'you@example.org', '--role', 'admin', '--data', '/var/lib/svc'],
      'a long enough passphrase\n',
    );
  } finally {
    child.kill('SIGTERM');
  }
  assert.equal(await gone, 0, said.slice(-3_000));
}

/** Asserts that changed settings and data survive an upgrade. */
function upgraded(machine: Machine, file: string): void {
  const [settings, data] = [machine.path('etc/svc/svc.env'), machine.path('var/lib/svc/svc.db')];
  writeFileSync(settings, `${readFileSync(settings, 'utf8')}SVC_LOG_LEVEL=warn\n`);
  const before = statSync(data).ino;
  machine.run('dpkg', ['-i', `/root/${basename(file)}`]);
  assert.match(machine.run('dpkg', ['-s', 'svc']), /^Version: 1\.1\.0$/m);
  assert.match(readFileSync(settings, 'utf8'), /^SVC_LOG_LEVEL=warn$/m);
  assert.equal(statSync(data).ino, before);
}

function removed(machine: Machine): void {
  machine.run('dpkg', ['-r', 'svc']);
  assert.equal(existsSync(machine.path('usr/bin/svc')), false);
  assert.equal(existsSync(machine.path('lib/systemd/system/svc.service')), false);
  assert.ok(
    existsSync(machine.path('var/lib/svc/svc.db')) && existsSync(machine.path('etc/svc/svc.env')),
    'data and settings stay',
  );
}

function purged(machine: Machine): void {
  machine.run('dpkg', ['-P', 'svc']);
  assert.equal(existsSync(machine.path('var/lib/svc')), false);
  assert.equal(existsSync(machine.path('etc/svc')), false);
  assert.equal(spawnSync('chroot', [machine.folder, 'dpkg', '-s', 'svc']).status, 1);
}
