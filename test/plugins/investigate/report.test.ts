import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Incidents } from 'svc/contracts/alert';
import { NoticeSource } from 'svc/contracts/notify';
import type { Findings, Snapshot } from 'svc/rca';

import { shippedChecks } from '../../../plugins/investigate/checks/run-checks.ts';
import { actionsFor } from '../../../plugins/investigate/surroundings.ts';
import { startReceiver } from '../notify/fakes/receiver.ts';
import { hot, investigateHouse, post } from './house.ts';

test('an incident is investigated by itself: host, indicator and time are in the report, its first line in the timeline', async (t) => {
  const house = await investigateHouse(t);
  await house.rule({ rule_key: 'cpu_hot', conditions: [{ expr: 'node_cpu_usage_percent > 90' }] });
  await house.pass(60_000);
  const incident = await house.fired('cpu_hot', hot(3));
  const report = await house.report(incident);
  assert.equal(report.status, 'ready', report.summary);
  assert.equal(report.root_cause?.node.id, 'device:3');
  assert.equal(report.root_cause?.node.name, 'host-3');
  // The timeline is told behind the report.
  const toldOf = () =>
    house.json(`/api/v1/alerts/incidents/${incident}/events?type=ai_initial_diagnosis`);
  let { items } = await toldOf();
  for (let tries = 0; items.length === 0 && tries < 1_000; tries += 1) {
    await pause(20);
    ({ items } = await toldOf());
  }
  assert.equal(items.length, 1);
  assert.match(items[0].message, /host-3/);
  const links = new Map(report.suggested_actions.map(({ label, link }) => [label, link ?? '']));
  const look = new URL(links.get('Look at node_cpu_usage_percent of host-3')!, 'http://svc');
  assert.equal(look.pathname, '/ui/explore');
  assert.equal(
    look.searchParams.get('q'),
    report.evidence.find(({ id }) => id === report.root_cause!.indicator!.evidence)!.query,
  );
  const [from, to] = look.searchParams.get('at')!.split('-').map(Number);
  assert.ok(
    1_000 * from! < Date.parse(report.onset_at!) && Date.parse(report.onset_at!) <= 1_000 * to!,
  );
  assert.equal(links.get('Look at what runs on host-3'), '/ui/devices/3/processes');
  assert.equal(
    new URL(links.get('Read the logs of host-3')!, 'http://svc').searchParams.get('q'),
    '{device_id="3"}',
  );
  assert.ok(
    report.markdown.includes(
      `- [Look at node_cpu_usage_percent of host-3](${look.pathname}${look.search})`,
    ),
    report.markdown,
  );
  const told = await house.service(NoticeSource).background(incident);
  assert.equal(told?.diagnosis, items[0].message.split('\n')[0]);
  // A look that names nothing is in the timeline, and in no message.
  for (const [at, data] of [{ names_nothing: true }, { status: 'failed' }].entries()) {
    const message = 'Too little could be seen to name a cause.';
    await house.service(Incidents).diagnose(incident, { message, data, by: 'x', look: 2 + at });
    assert.equal((await toldOf()).items[0].message, message);
    assert.equal((await house.service(NoticeSource).background(incident))?.diagnosis, undefined);
  }
});

test('a check that complains about the cause brings its playbook among what to do next', () => {
  const check = (name: string, node: string, ok: boolean) => ({
    check: name,
    node,
    ok,
    interesting: !ok,
  });
  const snapshot = {
    evidence: [],
    symptom: { node: 'device:1' },
    window: { from: 0, to: 8 * 3_600_000 },
    checks: [
      check('zombies', 'device:1', false),
      check('disk_full', 'device:2', false),
      check('inodes', 'device:2', true),
      check('swap', 'device:3', false),
    ],
  } as unknown as Snapshot;
  const findings = {
    root_cause: { node: 'device:2' },
    hypotheses: [],
    onset_at: 7 * 3_600_000,
  } as unknown as Findings;
  const actions = actionsFor(findings, snapshot, new Map(Object.entries(shippedChecks)));
  assert.deepEqual(
    actions.map(({ label, link }) => [label, link]),
    [
      ['Read the playbook: File system full', 'playbook://hosts/disk-full.md'],
      ['Read the playbook: Zombies', 'playbook://hosts/zombies.md'],
    ],
  );
});

test('the playbook of the kind of fault that was found comes first, whatever the order in which checks complain', () => {
  const checks = ['filesystem_readonly', 'disk_full'].map((check) => ({
    check,
    node: 'device:1',
    ok: false,
    interesting: true,
  }));
  const snapshot = {
    evidence: [],
    symptom: { node: 'device:1' },
    window: { from: 0, to: 8 * 3_600_000 },
    checks,
  } as unknown as Snapshot;
  const first = (kind: string): string | null | undefined => {
    const indicator = { kind, name: 'some_metric', evidence: 'E1' };
    const findings = {
      root_cause: { node: 'device:1', indicator },
      hypotheses: [],
      onset_at: 7 * 3_600_000,
    } as unknown as Findings;
    return actionsFor(findings, snapshot, new Map(Object.entries(shippedChecks)))[0]?.link;
  };
  assert.deepEqual(
    [first('disk'), first('cpu')],
    ['playbook://hosts/disk-full.md', 'playbook://hosts/filesystem-readonly.md'],
  );
});

test('a message carries the first line of the report, and the next one like it names the first, with what people said of it', async (t) => {
  const house = await investigateHouse(t, {
    plugins: ['metricsdb', 'alert', 'topology', 'changes', 'investigate', 'notify'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  const channel = await startReceiver(t);
  const draft = {
    name: 'Ops',
    channel_type: 'webhook',
    endpoint: channel.url,
    group_by: [],
    group_wait: '20s',
    group_interval: '0s',
  };
  await house.json('/api/v1/notification-channels', post(draft));
  await house.rule({ rule_key: 'cpu_hot', conditions: [{ expr: 'node_cpu_usage_percent > 90' }] });
  const first = await house.fired('cpu_hot', hot(3));
  const report = await house.report(first);
  assert.match(report.summary, /^(?:Cause|Suspected): host-3: /);
  // On a busy machine the notice is accepted when the time of its group has passed already: time goes on until it is told.
  for (let tries = 0; channel.taken.length === 0; tries += 1) {
    assert.ok(tries < 60, 'the message has not come');
    await house.pass(30_000, hot(3));
    await pause(300);
  }
  assert.ok(
    JSON.stringify(channel.taken[0]!.body).includes(JSON.stringify(report.summary).slice(1, -1)),
    channel.taken[0]!.text,
  );

  await house.json(
    `/api/v1/investigations/${report.id}/feedback`,
    post({ verdict: 'right', true_cause: 'a backup that ran twice' }),
  );
  await house.pass(600_000);
  const second = await house.fired('cpu_hot', hot(4), '4');
  const { similar_past: past, markdown } = await house.report(second);
  assert.deepEqual(
    past.map(({ incident_id, investigation_id, verdict, true_cause }) => [
      incident_id,
      investigation_id,
      verdict,
      true_cause,
    ]),
    [[first, report.id, report.verdict, 'a backup that ran twice']],
  );
  assert.match(
    markdown,
    /## Similar before\n\n- incident \d+, .*; people said: a backup that ran twice/,
  );
});
