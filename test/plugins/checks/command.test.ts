import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { type Reading, saidOf } from 'svc/check';
import { type EdgeMethod, EdgeMethods } from 'svc/contracts/edge-uplink';
import { startTestEdge } from 'svc/testing';

import { partsOf } from '../../../plugins/checks/check/check.ts';
import { readingRows } from '../../../plugins/checks/rounds/series.ts';
import { peer } from '../../peers.ts';
import { policyOf, programsOf } from '../edge-skills/machine.ts';

const endings: (() => unknown)[] = [];
const policy = policyOf({});
let method: EdgeMethod;

before(async () => {
  const edge = await startTestEdge(
    { after: (end: () => unknown) => void endings.push(end) },
    { plugins: ['programs', 'edge-skills'], services: { 'uplink.policy': policy } },
  );
  method = edge.contributions<EdgeMethod>(EdgeMethods).find(({ name }) => name === 'check_probe')!;
});

after(async () => {
  for (const end of endings.toReversed()) {
    await end();
  }
});

const run = (target: string, more: object = {}): Promise<Reading> =>
  method.run(
    { kind: 'command', target, timeout_ms: 20_000, ip: 'any', conditions: [], ...more },
    { signal: new AbortController().signal },
  ) as Promise<Reading>;

const allow = (...commands: readonly string[]): void => {
  policy.skills = { ...policy.skills, commands };
};

test('a real plugin of Nagios says how a disk is, with what it measured as metrics', async (t) => {
  const [disk, procs] = [peer(t, 'check_disk'), peer(t, 'check_procs')];
  if (disk === undefined || procs === undefined) {
    return;
  }
  allow(`disk=${disk} -w 0% -c 0% -p /`, `procs=${procs}  -w 0  -c 0`);
  const found = await run('disk');
  assert.deepEqual([found.success, found.cause, found.facts.status], [true, null, 0]);
  assert.match(found.facts.detail!, /^DISK OK - free space: \/ \d+ ?MiB/);
  const [root] = found.facts.measured!;
  assert.equal(root!.label, '/');
  assert.ok(root!.value > 0);
  const { definition } = partsOf({ target: 'disk', kind: 'command' } as { target: string });
  const rows = readingRows({ name: 'disk', definition }, [
    { place: 'web-1', at: 1, reading: found },
  ]);
  const measured = rows.find(({ labels }) => labels['__name__'] === 'probe_perfdata')!;
  assert.deepEqual([measured.labels['label'], measured.value], ['/', root!.value]);
  assert.ok(rows.some(({ labels }) => labels['__name__'] === 'probe_status_code'));

  const broken = await run('procs');
  assert.equal(broken.success, false);
  assert.match(broken.cause!, /^PROCS CRITICAL: \d+ processes \(exit code 2\)$/);
  const judged = await run('procs', { conditions: ['[STATUS] == 2', '[BODY] == pat(PROCS*)'] });
  assert.equal(judged.success, true);
});

test('a command is what its owner wrote down, and whoever does not allow it says how to', async (t) => {
  const folder = programsOf(t, {
    args: 'printf "WARNING - %s args: %s\\n" "$#" "$*"; exit 1',
    unsaid: 'echo "UNKNOWN - no answer from the sensor"; exit 3',
    slow: 'sleep 60',
    loud: 'while :; do echo too much of it; done',
  });
  allow(
    `args=${folder}/args one $(two) ;three`,
    `unsaid=${folder}/unsaid`,
    `gone=${folder}/gone`,
    `slow=${folder}/slow`,
    `loud=${folder}/loud`,
  );
  const found = await run('args', { send: undefined });
  assert.deepEqual(
    [found.success, found.facts.status, found.facts.detail],
    [true, 1, 'WARNING - 3 args: one $(two) ;three'],
  );
  await assert.rejects(run('other'), {
    code: 'forbidden',
    message:
      /does not list a command other; .* add "other=\/path\/to\/program arguments" to "skills\.commands"/,
  });
  await assert.rejects(run('args one'), { code: 'invalid_argument' });
  await assert.rejects(run('args', { send: 'more' }), { code: 'invalid_argument' });
  // What cannot tell how the target is says nothing about it: the check becomes stale, not down.
  await assert.rejects(run('unsaid'), /unsaid ended with code 3: UNKNOWN - no answer from the/);
  assert.equal((await run('unsaid', { conditions: ['[STATUS] == 3'] })).success, true);
  await assert.rejects(run('gone'), /gone of the command gone does not exist on this machine/);
  await assert.rejects(run('loud'), /loud ended with too much output: too much of it/);
  const many = await Promise.allSettled(
    Array.from({ length: 20 }, () => run('slow', { timeout_ms: 2_000 })),
  );
  const refused = many.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  assert.equal(refused.length, 4);
  assert.match(refused[0]!, /16 commands are already running on this machine/);
  const late = await run('slow', { timeout_ms: 500 });
  assert.deepEqual([late.success, late.cause], [false, 'no answer within 0.5 s']);

  policy.skills = { ...policy.skills, enabled: false };
  t.after(() => void (policy.skills = { ...policy.skills, enabled: true }));
  await assert.rejects(run('args'), { code: 'forbidden', message: /"skills\.enabled"/ });
  await assert.rejects(run('127.0.0.1:1', { kind: 'tcp' }), { message: /"skills\.enabled"/ });
});

test('what a plugin prints is taken apart within bounds', () => {
  assert.deepEqual(
    saidOf("OK - fine | 'time one'=0.5s;1;2 size=12KB bad=x\nmore\n| load=3 load=4\n"),
    {
      body: 'OK - fine\nmore\n',
      body_bytes: 69,
      detail: 'OK - fine',
      measured: [
        { label: 'time one', value: 0.5, unit: 's' },
        { label: 'size', value: 12, unit: 'KB' },
        { label: 'load', value: 3, unit: '' },
      ],
    },
  );
  assert.deepEqual(saidOf("OK|'it''s'=-1.5%;;").measured, [
    { label: "it's", value: -1.5, unit: '%' },
  ]);
  const many = Array.from({ length: 80 }, (_, n) => `value${n}=${n}`).join(' ');
  const { detail, measured } = saidOf(`\u001b[2J${'x'.repeat(900)}|${many}`);
  assert.deepEqual([detail!.length, measured!.length], [300, 50]);
  assert.ok(!detail!.includes('\u001b'));
});
