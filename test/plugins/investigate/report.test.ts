import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NoticeSource } from '../../../plugins/notify/contract.ts';
import { hot, investigateHouse } from './house.ts';

test('an incident is investigated by itself: host, indicator and time are in the report, its first line in the timeline', async (t) => {
  const house = await investigateHouse(t);
  await house.rule({ rule_key: 'cpu_hot', conditions: [{ expr: 'node_cpu_usage_percent > 90' }] });
  await house.pass(60_000);
  const incident = await house.fired('cpu_hot', hot(3));
  const report = await house.report(incident);
  assert.equal(report.status, 'ready', report.summary);
  assert.equal(report.root_cause?.node.id, 'device:3');
  assert.equal(report.root_cause?.node.name, 'host-3');
  const { items } = await house.json(`/api/v1/alerts/incidents/${incident}/events?type=ai_initial_diagnosis`);
  assert.equal(items.length, 1);
  assert.match(items[0].message, /host-3/);
  const told = await house.service(NoticeSource).background(incident);
  assert.equal(told?.diagnosis, items[0].message.split('\n')[0]);
});
