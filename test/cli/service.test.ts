import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { backupUnitTexts, unitText } from '../../bin/serve/unit.ts';
import { peer } from '../peers.ts';
import { openIn } from '../storage/folder.ts';
import { scratch, svc } from './launcher.ts';

test('the units of the manager are ones that systemd understands', (t) => {
  const program = peer(t, 'systemd-analyze');
  if (program === undefined) {
    return;
  }
  const folder = scratch(t);
  const command = [process.execPath];
  const units = { 'svc.service': unitText({ command, dataDir: folder, groups: ['adm'] }), ...backupUnitTexts({ command, dataDir: folder }) };
  const said = (texts: Readonly<Record<string, string>>): string => {
    // The user is made by "svc install", and not by a test.
    Object.entries(texts).forEach(([name, text]) => writeFileSync(join(folder, name), text.replaceAll(/^(User|Group)=svc$/gm, '$1=root')));
    const { status, stdout, stderr } = spawnSync(program, ['verify', '--man=no', ...Object.keys(texts).map((name) => join(folder, name))], {
      encoding: 'utf8',
    });
    return `${status}${stdout}${stderr}`;
  };
  assert.equal(said(units), '0', 'it takes every line, and warns of none');
  assert.match(said({ ...units, 'svc.service': units['svc.service'].replace('OOMPolicy', 'OOMPolitics') }), /Unknown key(?: name)? 'OOMPolitics'/);
});

test('install shows its units, and says why it can set up none here', async (t) => {
  const folder = scratch(t);
  const shown = await svc(['install', '--print', '--json', '--data', join(folder, 'my data')]);
  assert.equal(shown.code, 0, shown.stderr);
  const units = shown.json<Record<string, string>>();
  assert.deepEqual(Object.keys(units), ['svc.service', 'svc-backup.service', 'svc-backup.timer']);
  assert.match(units['svc.service']!, /^ExecStart=.* serve --data ".*my data"$/m);
  assert.match(units['svc-backup.service']!, /^ExecStart=.* backup create --in ".*my data\/backups" --keep 7 --data ".*my data"$/m);
  assert.deepEqual(Object.keys((await svc(['install', '--print', '--no-backups', '--json'])).json()), ['svc.service']);
  const uninstalled = await svc(['uninstall', '--data', folder], { env: { PATH: '/nowhere' } });
  assert.equal(uninstalled.code, 1);
  assert.match(uninstalled.stderr, /no service to remove, since/);
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
    const { code, stderr } = await svc(['backup', 'create', '--in', kept, '--keep', '2', '--data', dataDir]);
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
    assert.equal((await svc(['backup', 'create', ...wrong, '--data', dataDir])).code, 2, wrong.join(' '));
  }
});
