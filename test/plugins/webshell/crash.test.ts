import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { shellHouse } from './house.ts';
import { startSshd } from './sshd.ts';
import { programOf } from '../../program-of.ts';

test('a shell that was open when the service was killed is closed at the next start, with what was recorded of it', async (t) => {
  const sshd = await startSshd(t);
  if (!sshd) {
    return;
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-shell-crash-'));
  const { port, user, privateKey } = sshd;
  const program = programOf(join(import.meta.dirname, 'crash-child.ts'));
  const child = fork(program.at(-1)!, [JSON.stringify({ port, user, privateKey, dataDir })], {
    execArgv: program.slice(0, -1),
  });
  t.after(() => child.kill('SIGKILL'));
  const [{ session }] = (await once(child, 'message')) as [{ session: number }];
  child.kill('SIGKILL');
  await once(child, 'exit');

  const { ask, house, trail } = await shellHouse(t, () => port, { dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  assert.equal((await ask('GET', '/webshell/sessions')).body.total, 0);
  const [row] = (await ask('GET', '/webshell/sessions?state=ended')).body.items;
  assert.deepEqual(
    [row.id, row.ended_by, row.recording.state],
    [session, 'manager_restart', 'interrupted'],
  );
  assert.ok(
    row.bytes_in >= 'echo kept-until-the-end'.length &&
      row.bytes_out >= 'kept-until-the-end'.length,
    `${row.bytes_in} in, ${row.bytes_out} out`,
  );
  assert.ok(row.recording.duration_seconds > 0);
  const cast = await (
    await house.fetch(`/api/v1/webshell/recordings/${session}?format=cast`)
  ).text();
  const lines = cast.trimEnd().split('\n');
  lines.forEach((line) => JSON.parse(line));
  assert.ok(cast.includes('kept-until-the-end'));
  const close = (await trail('webshell:close'))[0].changes.after;
  assert.equal(close.recording.sha256, row.recording.sha256);
  assert.deepEqual([close.bytes_in, close.bytes_out], [row.bytes_in, row.bytes_out]);
});
