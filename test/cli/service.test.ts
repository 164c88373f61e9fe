import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { unitText as agentUnitText } from '../../bin/agent/unit.ts';
import { debianPackage } from '../../bin/dev/packaging/debian.ts';
import { allowedCalls, backupUnitTexts, unitText } from '../../bin/serve/unit.ts';
import { withCredentials } from '../../bin/serve/service/from-systemd.ts';
import { peer } from '../peers.ts';
import { openIn } from '../storage/folder.ts';
import { checkout, projectRoot, scratch, serving, svc } from './launcher.ts';

/** Tenths of the measure of `systemd-analyze security`, from 0 to 100. */
const mostExposed = 30;

test('the units of the manager are ones that systemd understands', (t) => {
  const program = peer(t, 'systemd-analyze');
  if (program === undefined) {
    return;
  }
  const folder = scratch(t);
  const command = [process.execPath];
  const units = {
    'svc.service': unitText({
      command,
      dataDir: folder,
      groups: ['adm'],
      credentials: ['SVC_SECRET_KEY:/etc/hostname'],
    }),
    ...backupUnitTexts({ command, dataDir: folder }),
  };
  const said = (texts: Readonly<Record<string, string>>): string => {
    // The user is made by "svc install", and not by a test.
    Object.entries(texts).forEach(([name, text]) =>
      writeFileSync(join(folder, name), text.replaceAll(/^(User|Group)=svc$/gm, '$1=root')),
    );
    const { status, stdout, stderr } = spawnSync(
      program,
      ['verify', '--man=no', ...Object.keys(texts).map((name) => join(folder, name))],
      {
        encoding: 'utf8',
      },
    );
    return `${status}${stdout}${stderr}`;
  };
  assert.equal(said(units), '0', 'it takes every line, and warns of none');
  assert.match(
    said({ ...units, 'svc.service': units['svc.service'].replace('OOMPolicy', 'OOMPolitics') }),
    /Unknown key(?: name)? 'OOMPolitics'/,
  );
});

test('the units leave little open, by the measure of systemd', (t) => {
  const program = peer(t, 'systemd-analyze');
  if (program === undefined) {
    return;
  }
  const folder = scratch(t);
  const command = ['/usr/bin/svc'];
  const dataDir = '/var/lib/svc';
  const units = {
    'svc.service': unitText({ command, dataDir, groups: ['adm'], credentials: [] }),
    'svc-backup.service': backupUnitTexts({ command, dataDir })['svc-backup.service'],
    'svc-edge.service': agentUnitText({ command, dataDir, user: 'svc-edge', groups: ['adm'] }),
  };
  for (const [name, text] of Object.entries(units)) {
    const exposure = (content: string): string => {
      writeFileSync(join(folder, name), content);
      const { status, stdout, stderr } = spawnSync(
        program,
        [
          'security',
          '--offline=yes',
          '--no-pager',
          `--threshold=${mostExposed}`,
          join(folder, name),
        ],
        { encoding: 'utf8' },
      );
      return `${status}${stderr}${stdout.split('\n').findLast((line) => line !== '')}`;
    };
    assert.match(exposure(text), /^0.*Overall exposure level/, name);
    assert.match(exposure(text.replace(/^SystemCallFilter=.*\n/m, '')), /^1/, 'it does measure');
  }
});

test('what confines the code of packs needs no system call but those that the unit allows', (t) => {
  const [analyze, strace] = [peer(t, 'systemd-analyze'), peer(t, 'strace')];
  if (analyze === undefined || strace === undefined) {
    return;
  }
  const members = (group: string): readonly string[] =>
    spawnSync(analyze, ['syscall-filter', group], { encoding: 'utf8' })
      .stdout.split('\n')
      .slice(1)
      .map((line) => line.trim())
      .flatMap((word) => (word.startsWith('@') ? members(word) : [word]))
      .filter((word) => /^[a-z0-9_]+$/.test(word));
  const allowed = allowedCalls.flatMap(members).map((name) => `?${name}`);
  assert.ok(allowed.length > 200, `${allowed.length} system calls`);
  const folder = scratch(t);
  const refused = join(folder, 'refused');
  const confinement = join(projectRoot, 'plugins/packs/process/confinement.ts');
  const find = [
    process.execPath,
    ...['--import', import.meta.resolve('tsx'), '--eval'],
    `import(${JSON.stringify(confinement)}).then((found) => found.findConfinement(${JSON.stringify(folder)})).then(console.log)`,
  ];
  const filter = [
    ...[strace, '-f', '-qq', '--seccomp-bpf', '-e', 'signal=none', '-o', refused],
    ...['-e', `trace=!${allowed.join(',')}`],
    ...['-e', `inject=!${allowed.join(',')}:error=EPERM`],
  ];
  const found = ([program, ...args]: readonly string[]): string => {
    const { stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8', timeout: 60_000 });
    return stdout + stderr;
  };
  const held = found([...filter, ...find]);
  assert.match(held, /^(?:own-user|namespaces|none)\n$/);
  assert.equal(held, found(find), 'it finds what it finds without a filter');
  // The engine asks whether the processor protects memory by keys, and does without.
  assert.match(readFileSync(refused, 'utf8'), /^(?:\d+ +pkey_alloc\(.*\n)*$/);
});

test('install shows its units, and says why it can set up none here', async (t) => {
  const folder = scratch(t);
  const shown = await svc(['install', '--print', '--json', '--data', join(folder, 'my data')]);
  assert.equal(shown.code, 0, shown.stderr);
  const units = shown.json<Record<string, string>>();
  assert.deepEqual(Object.keys(units), ['svc.service', 'svc-backup.service', 'svc-backup.timer']);
  assert.match(units['svc.service']!, /^ExecStart=.* serve --data ".*my data"$/m);
  assert.match(
    units['svc-backup.service']!,
    /^ExecStart=.* backup create --in ".*my data\/backups" --keep 7 --data ".*my data"$/m,
  );
  assert.deepEqual(
    Object.keys((await svc(['install', '--print', '--no-backups', '--json'])).json()),
    ['svc.service'],
  );
  const uninstalled = await svc(['uninstall', '--data', folder], { env: { PATH: '/nowhere' } });
  assert.equal(uninstalled.code, 1);
  assert.match(uninstalled.stderr, /no service to remove, because/);
});

test('systemd is told when svc is ready, then that it goes round, and its credentials are variables', async (t) => {
  const folder = scratch(t);
  writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >>${folder}/told\n`, {
    mode: 0o755,
  });
  mkdirSync(join(folder, 'credentials'));
  writeFileSync(join(folder, 'credentials', 'svc_SVC_PUBLIC_URL'), 'https://svc.example.org\n');
  writeFileSync(join(folder, 'credentials', 'other'), 'not ours');
  const env = {
    PATH: `${folder}:${process.env['PATH']}`,
    NOTIFY_SOCKET: join(folder, 'socket'),
    WATCHDOG_USEC: '300000',
    CREDENTIALS_DIRECTORY: join(folder, 'credentials'),
  };
  const here = await serving(t, join(folder, 'data'), { root: checkout(t, 'setting'), env });
  const told = (): string[] =>
    existsSync(join(folder, 'told'))
      ? readFileSync(join(folder, 'told'), 'utf8').trim().split('\n')
      : [];
  for (const deadline = Date.now() + 20_000; told().length < 3; await pause(50)) {
    assert.ok(Date.now() < deadline, here.said());
  }
  assert.deepEqual(new Set(told().slice(1)), new Set(['WATCHDOG=1']));
  assert.equal(told()[0], 'READY=1');
  const shown = await svc(['setting', 'get', 'http.public_url', '--data', here.dataDir]);
  assert.match(shown.stdout, /https:\/\/svc\.example\.org/, shown.stderr);
  assert.deepEqual(
    withCredentials({ ...env, SVC_PUBLIC_URL: 'https://own.example' })['SVC_PUBLIC_URL'],
    'https://own.example',
  );
  assert.equal(withCredentials({ CREDENTIALS_DIRECTORY: '/nowhere' })['SVC_PUBLIC_URL'], undefined);
});

test('a Debian package has program, units and a user, and the same files make the same package', async (t) => {
  const program = peer(t, 'dpkg-deb');
  if (program === undefined) {
    return;
  }
  const folder = scratch(t);
  const binary = join(folder, 'program');
  writeFileSync(binary, '#!/bin/sh\necho svc\n', { mode: 0o700 });
  const pack = async (name: string): Promise<string> => {
    const workshop = join(folder, `${name}-work`);
    mkdirSync(workshop);
    const out = join(folder, `${name}.deb`);
    await debianPackage({
      binary,
      version: '1.2.3',
      arch: 'arm64',
      licence: 'licence\n',
      out,
      workshop,
    });
    return out;
  };
  const [one, two] = [await pack('one'), await pack('two')];
  assert.deepEqual(readFileSync(one), readFileSync(two));
  const run = (...args: string[]): string => spawnSync(program, args, { encoding: 'utf8' }).stdout;
  assert.equal(
    run('--field', one, 'Package', 'Version', 'Architecture'),
    'Package: svc\nVersion: 1.2.3\nArchitecture: arm64\n',
  );
  const contents = run('--contents', one);
  for (const line of [
    /^-rwxr-xr-x root\/root .* \.\/usr\/bin\/svc$/m,
    /^drwx------ root\/root .* \.\/etc\/svc\/credentials\/$/m,
    /^-rw-r--r-- root\/root .* \.\/lib\/systemd\/system\/svc-backup\.timer$/m,
  ]) {
    assert.match(contents, line);
  }
  const there = join(folder, 'there');
  run('--raw-extract', one, there);
  assert.match(
    readFileSync(join(there, 'lib/systemd/system/svc.service'), 'utf8'),
    /^ExecStart=\/usr\/bin\/svc serve --data \/var\/lib\/svc$/m,
  );
  for (const script of ['postinst', 'prerm', 'postrm']) {
    assert.equal(spawnSync('/bin/sh', ['-n', join(there, 'DEBIAN', script)]).status, 0, script);
  }
  await assert.rejects(
    debianPackage({
      binary,
      version: '1.2.3',
      arch: 'mips',
      licence: '',
      out: one,
      workshop: there,
    }),
    /no architecture for mips/,
  );
});

test('the image starts svc as svc wants to be started', () => {
  const text = readFileSync(join(projectRoot, 'config/Dockerfile'), 'utf8');
  const named = [...text.matchAll(/(SVC_[A-Z_]+)=/g)].map(([, name]) => name!);
  const known = readFileSync(join(projectRoot, 'config/core-settings.json'), 'utf8');
  assert.deepEqual(
    named.filter((name) => !known.includes(`"${name}"`)),
    ['SVC_DATA_DIR', 'SVC_LOG_FORMAT'].filter((name) => !known.includes(`"${name}"`)),
  );
  assert.match(text, /^ENTRYPOINT \["svc"\]\nCMD \["serve"\]$/m);
  assert.match(text, /^USER svc$/m);
});

test('backups in one folder build on each other, and only the last ones stay', async (t) => {
  const folder = scratch(t);
  const dataDir = join(folder, 'data');
  await (await openIn(dataDir)).close();
  mkdirSync(join(dataDir, 'packs', 'a'), { recursive: true });
  writeFileSync(join(dataDir, 'packs', 'a', 'large'), 'x'.repeat(10_000));
  const kept = join(folder, 'kept');
  mkdirSync(join(kept, 'mine'), { recursive: true });
  const nodes = new Set<number>();
  for (let made = 1; made <= 3; made++) {
    const { code, stderr } = await svc([
      'backup',
      'create',
      '--in',
      kept,
      '--keep',
      '2',
      '--data',
      dataDir,
    ]);
    assert.equal(code, 0, stderr);
    const names = readdirSync(kept).filter((name) => name !== 'mine');
    assert.equal(names.length, Math.min(made, 2));
    names.forEach((name) => nodes.add(statSync(join(kept, name, 'packs', 'a', 'large')).ino));
  }
  assert.equal(nodes.size, 1, 'what has not changed is there once');
  assert.ok(readdirSync(kept).includes('mine'), 'what it has not made it does not remove');
  for (const wrong of [
    ['--keep', '2'],
    ['--in', kept, '--keep', '0'],
    [join(folder, 'x'), '--in', kept, '--keep', '1'],
  ]) {
    assert.equal(
      (await svc(['backup', 'create', ...wrong, '--data', dataDir])).code,
      2,
      wrong.join(' '),
    );
  }
});
