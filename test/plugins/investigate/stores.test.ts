import assert from 'node:assert/strict';
import { test } from 'node:test';

import { run as crash } from '../../drill/investigate-crash.ts';
import { hour, minute } from '../alert/engine-house.ts';
import { fedHouse } from './fed-house.ts';

test('lines and spans of the real stores show what broke, and every piece of evidence is the same when it is asked again', async (t) => {
  const broken = 2;
  const house = await fedHouse(t, {
    ...{ seed: 'stores', count: 4, requestsPerMinute: 20, logsPerSecond: 0.05 },
    fault: { kind: 'disk', host: broken, after: 1.5 * hour },
  });
  await house.pass(1.5 * hour);
  const incident = await house.watchFailures();
  const report = await house.report(incident);
  const device = `device:${house.devices.get(broken)!.id}`;
  assert.equal(report.root_cause?.node.id, device, report.markdown);

  await t.test('templates: a kind of line that is new on the host that broke', () => {
    const { support } = report.hypotheses.find(({ node }) => node.id === device)!;
    assert.match(support.find(({ kind }) => kind === 'log')?.text ?? '', /never there before/, report.markdown);
    const logs = report.evidence.filter(({ kind }) => kind === 'log');
    assert.ok(logs.length >= 4 && logs.every(({ trust }) => trust === 'untrusted'));
    assert.ok(JSON.stringify(logs.map(({ digest }) => digest)).includes('no space left on device'));
  });
  await t.test('traces: failures begin in the service on that host, and the way to the symptom leads over calls', () => {
    const service = `service:${house.application.serviceOf(broken)}`;
    const { support } = report.hypotheses.find(({ node }) => node.id === service)!;
    assert.match(support.find(({ kind }) => kind === 'trace')?.text ?? '', /errors begin here in \d+ %/, report.markdown);
    const traces = report.evidence.filter(({ kind }) => kind === 'trace');
    assert.ok(traces.some(({ digest }) => Number(digest['failing']) > 0) && traces.some(({ digest }) => Number(digest['traces']) > 0));
    assert.deepEqual([report.propagation.at(0)?.from, report.propagation.at(-1)?.to], [device, `service:${house.application.serviceOf(1)}`]);
  });
  await t.test('nothing that is there was not seen, and all of it is the same again, also later', async () => {
    assert.deepEqual(
      report.not_seen.filter(({ reason }) => reason !== 'absent'),
      [],
    );
    await house.pass(5 * minute);
    assert.deepEqual((await house.askedAgain(report.id!)).other, []);
    const replay = await house.json<{ same: boolean; differences: unknown[] }>(`/api/v1/investigations/${report.id}/replay`);
    assert.deepEqual([replay.same, replay.differences], [true, []]);
  });
});

test('a process that is killed after a report was stored tells the timeline at its next start, once (short form of npm run drill investigate-crash)', async () => {
  const { ok, ...figures } = await crash({ rounds: 1, incidents: 4, kinds: 2 });
  assert.ok(ok, JSON.stringify(figures));
});
