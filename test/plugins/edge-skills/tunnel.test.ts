import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { startTestEdge } from 'svc/testing';

import type { SkillAnswer } from 'svc/edge-protocol';
import { startManager, until } from '../edge-uplink/far-side.ts';
import { programsOf } from './machine.ts';

const policyText = 'skills:\n  paths: []\n  services: [web]\n';

test('over the tunnel a service is restarted once for a key, whatever happens to the connection, and the policy file decides', async (t) => {
  const programs = programsOf(t, {
    systemctl: `echo "$@" >> "$(dirname "$0")/args"; [ "$1" = restart ] && while [ -e "$(dirname "$0")/hold" ]; do sleep 0.05; done; exit 0`,
  });
  const restarts = (): number =>
    existsSync(join(programs, 'args'))
      ? readFileSync(join(programs, 'args'), 'utf8')
          .split('\n')
          .filter((line) => line.startsWith('restart')).length
      : 0;
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-skill-tunnel-'));
  const manager = await startManager(t);
  writeFileSync(join(dataDir, 'edge.json'), JSON.stringify(manager.credentials), { mode: 0o600 });
  writeFileSync(join(dataDir, 'policy.yaml'), policyText);
  const edge = await startTestEdge(t, {
    plugins: ['programs', 'edge-uplink', 'edge-skills'],
    dataDir,
  });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const order = {
    key: 'service_restart',
    params: { service: 'web' },
    timeout_ms: 20_000,
    audit_id: 'audit-1',
  };
  const change = async (key: string | undefined): Promise<SkillAnswer> =>
    (await manager.session()).call<SkillAnswer>('skill_change', order, {
      timeoutMs: 25_000,
      ...(key !== undefined && { idempotencyKey: key }),
    });

  await until(
    'the edge says that it has skills',
    () => manager.hellos.at(-1)?.caps.includes('call:skill_change') === true,
  );
  await assert.rejects(change(undefined), /requires an idempotency key/);

  writeFileSync(join(programs, 'hold'), '');
  const lost = change('key-1');
  await until('the restart runs', () => restarts() === 1);
  const first = await manager.session();
  await Promise.all([assert.rejects(lost), first.close()]);
  await until('another connection is up', () => manager.hellos.length >= 2);
  const again = change('key-1');
  rmSync(join(programs, 'hold'));
  assert.equal((await again).status, 'ok');
  assert.deepEqual((await change('key-1')).result, (await again).result);
  assert.equal(restarts(), 1);

  writeFileSync(join(dataDir, 'policy.yaml'), `${policyText}  probes: []\n`.replace('web', 'db'));
  await assert.rejects(change('key-2'), { code: 'forbidden' });
  assert.equal(restarts(), 1);
  await assert.rejects(
    (await manager.session()).call(
      'skill_execute',
      { ...order, key: 'file_stat', params: { path: '/etc/shadow' } },
      { timeoutMs: 5_000 },
    ),
    {
      code: 'forbidden',
    },
  );
  writeFileSync(join(dataDir, 'policy.yaml'), 'skills:\n  probes: ["nonsense"]\n');
  await assert.rejects(
    (await manager.session()).call(
      'skill_execute',
      { ...order, key: 'processes', params: {} },
      { timeoutMs: 5_000 },
    ),
    {
      code: 'forbidden',
    },
  );
  assert.ok(edge.lines.some((line) => line.includes('skills.probes may list only')));
  assert.ok(
    readFileSync(join(dataDir, 'plugins/edge-skills/skills.log'), 'utf8').includes(
      '"audit_id":"audit-1"',
    ),
  );
});
