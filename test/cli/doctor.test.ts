import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { flipBit } from '../drill/flip-bit.ts';
import { checkout, scratch, serving, svc } from './launcher.ts';

interface Finding {
  readonly subject: string;
  readonly verdict: 'ok' | 'not tried' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
}

async function findings(
  data: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; of: (subject: string) => Finding }> {
  const { code, json } = await svc(['doctor', '--data', data, '--json'], {
    env: { SVC_HTTP_ADDR: '127.0.0.1:0', ...env },
  });
  const all = json<{ findings: Finding[] }>().findings;
  assert.ok(
    all.every(({ verdict, fix }) => ['ok', 'not tried'].includes(verdict) === (fix === null)),
  );
  return { code, of: (subject) => all.find((finding) => finding.subject === subject)! };
}

test('before the first start everything is in order', async (t) => {
  const { code, stdout } = await svc(['doctor', '--data', join(scratch(t), 'data')], {
    env: { SVC_HTTP_ADDR: '127.0.0.1:0' },
  });
  assert.equal(code, 0);
  const subjects = [
    'node',
    'sqlite',
    'settings',
    'clock',
    'open files',
    'file watching',
    'data folder',
    'free disk',
    'secret key',
    'private files',
    'lock',
  ];
  for (const subject of [...subjects, 'database', 'update', 'address']) {
    assert.match(stdout, new RegExp(`^(ok|warn) +${subject} +\\S`, 'm'));
  }
  for (const subject of ['plugins', 'areas']) {
    assert.match(stdout, new RegExp(`^not tried +${subject} +svc is not running$`, 'm'));
  }
});

test('each thing that is wrong with a data folder is found, with what to do about it', async (t) => {
  const data = join(scratch(t), 'data');
  const here = await serving(t, data);
  assert.equal(await here.end(), 0);
  assert.equal((await findings(data)).code, 0);

  await t.test('a folder and a key that others can read', async () => {
    chmodSync(data, 0o755);
    chmodSync(join(data, 'keys', 'secret.key'), 0o644);
    // What somebody's link leads to is not svc's to change.
    const others = join(data, '..', 'others');
    writeFileSync(others, 'of others', { mode: 0o644 });
    symlinkSync(others, join(data, 'keys', 'link'));
    const { code, of } = await findings(data);
    assert.equal(code, 1);
    assert.deepEqual(
      [of('data folder').verdict, of('data folder').fix],
      ['warn', `run "chmod 700 ${data}"`],
    );
    assert.equal(of('secret key').verdict, 'fail');
    assert.match(of('secret key').detail, /chmod 600/);
    assert.match(of('private files').detail, /other users can read .+secret\.key$/);
    const listed = await svc(['doctor', '--fix', '--data', data]);
    assert.equal(listed.code, 1);
    assert.match(
      listed.stdout,
      /--fix --yes":\n {2}data folder: chmod 700 .+\n {2}private files: remove access for other users from .+secret\.key/,
    );
    assert.equal(statSync(data).mode & 0o777, 0o755, 'a list changes nothing');
    const done = await svc(['doctor', '--fix', '--yes', '--data', data, '--json'], {
      env: { SVC_HTTP_ADDR: '127.0.0.1:0' },
    });
    assert.equal(done.code, 0, done.stdout);
    assert.deepEqual(
      done
        .json<{ repairs: { subject: string; done: boolean }[] }>()
        .repairs.map((repair) => [repair.subject, repair.done]),
      [
        ['data folder', true],
        ['private files', true],
      ],
    );
    assert.deepEqual(
      [data, join(data, 'keys', 'secret.key'), others].map((path) => statSync(path).mode & 0o777),
      [0o700, 0o600, 0o644],
    );
    rmSync(join(data, 'keys', 'link'));
  });

  await t.test('a setting that is misspelt', async () => {
    writeFileSync(join(data, 'svc.yaml'), 'http:\n  adr: 127.0.0.1:8080\n');
    const { code, of } = await findings(data);
    assert.equal(code, 1);
    assert.match(of('settings').detail, /svc\.yaml: http\.adr is not an svc setting.*http\.addr/);
    assert.equal(of('database').verdict, 'ok', 'the other examinations go on');
    rmSync(join(data, 'svc.yaml'));
  });

  await t.test('a page of the database that has changed since the stop', async () => {
    const file = join(data, 'svc.db');
    flipBit(file, statSync(file).size - 700);
    const { code, of } = await findings(data);
    flipBit(file, statSync(file).size - 700);
    assert.equal(code, 1);
    assert.match(of('database').detail, /svc\.db has changed since svc stopped \(page \d+/);
    assert.match(of('database').fix!, /svc backup restore.*delete .*clean/);
    assert.equal((await findings(data)).of('database').verdict, 'ok');
  });

  await t.test('a log with commits behind a damage, and what a start has kept of it', async () => {
    const killed = await serving(t, data);
    await killed.end('SIGKILL');
    rmSync(join(data, 'run.json'));
    assert.equal((await findings(data)).of('database').verdict, 'ok', 'a kill damages nothing');
    flipBit(join(data, 'svc.db-wal'), 1_000);
    const { code, of } = await findings(data);
    assert.equal(code, 1);
    assert.match(of('database').detail, /svc\.db-wal is damaged, and .*the next start drops them/);

    const again = await serving(t, data);
    const { parts } = (await (await fetch(`${again.url}/readyz`)).json()) as {
      parts: { part: string; state: string; detail?: string }[];
    };
    const storage = parts.find(({ part }) => part === 'storage')!;
    assert.equal(storage.state, 'degraded');
    assert.match(storage.detail!, /committed changes were lost.*svc\.db-wal\.damaged-1/);
    await again.end();
    assert.match((await findings(data)).of('database').detail, /svc\.db-wal\.damaged-1/);
    rmSync(join(data, 'svc.db-wal.damaged-1'));
    assert.equal((await findings(data)).of('database').verdict, 'ok');
  });

  await t.test('a database that is damaged', async () => {
    rmSync(join(data, 'clean'));
    writeFileSync(
      join(data, 'svc.db'),
      'not a database at all, but long enough to look at: '.repeat(100),
    );
    const { code, of } = await findings(data);
    assert.equal(code, 1);
    assert.match(of('database').detail, /is damaged/);
    assert.match(of('database').fix!, /svc backup restore/);
  });

  await t.test('a secret key that is gone while its data is there', async () => {
    rmSync(join(data, 'keys', 'secret.key'));
    const { of } = await findings(data);
    assert.equal(of('secret key').verdict, 'fail');
    const given = await findings(data, { SVC_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
    assert.equal(given.of('secret key').detail, 'from the environment');
  });
});

test('a svc that claims to run but cannot be reached is a finding, not a crash', async (t) => {
  const data = scratch(t);
  mkdirSync(join(data, 'keys'));
  writeFileSync(join(data, 'keys', 'operator.token'), 'svc_op_planted\n');
  writeFileSync(
    join(data, 'run.json'),
    JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:1' }),
  );
  const { code, of } = await findings(data);
  assert.equal(code, 1);
  assert.match(of('plugins').detail, /does not answer/);
  assert.match(of('lock').detail, /without holding its lock/);
});

test(
  'a plugin that fails is named, and started again when that is asked for',
  { timeout: 300_000 },
  async (t) => {
    const root = checkout(t, 'host', 'version');
    const folder = join(root, 'plugins', 'lamp');
    mkdirSync(folder);
    const manifest = {
      id: 'lamp',
      version: '1.0.0',
      title: 'Lamp',
      description: 'A lamp.',
      entry: 'index.ts',
      engines: { host: '^1.0.0' },
    };
    writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
    // Fails as long as that file is there, which no watch of plugins sees.
    const dark = join(root, 'dark');
    writeFileSync(dark, '');
    const code = `import { existsSync } from 'node:fs';
import { definePlugin } from 'svc/sdk';
export default definePlugin({ activate() { if (existsSync(${JSON.stringify(dark)})) throw new Error('no light'); } });`;
    writeFileSync(join(folder, 'index.ts'), code);
    const here = await serving(t, join(scratch(t), 'data'), { root });
    const doctor = (...args: readonly string[]) =>
      svc(['doctor', ...args, '--data', here.dataDir], { root });
    const listed = await doctor('--fix');
    assert.equal(listed.code, 1);
    assert.match(listed.stdout, /^fail +plugins +lamp is failed \(no light\)$/m);
    assert.match(listed.stdout, /--fix --yes":\n {2}plugins: start lamp again$/m);
    rmSync(dark);
    const mended = await doctor('--fix', '--yes');
    assert.equal(mended.code, 0, mended.stdout);
    assert.match(mended.stdout, /^ok +plugins +\d+ active$/m);
  },
);
