import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Engine, interval, minute } from './engine-house.ts';

test('a severity that a template computes is that of the incident, which is told again when it rises', async (t) => {
  const house = await new Engine().open();
  t.after(() => house.close());
  const rule = house.book.add({
    rule_key: 'heat',
    scope_type: 'global',
    severity: 'warning',
    labels: { severity: '{{ if gt $value 65.0 }}page{{ else }}info{{ end }}' },
  });
  const heat = async (...values: readonly number[]): Promise<void> => {
    house.answers.set(
      'heat',
      values.map((value, index) => ({ host: `h${index}`, value })),
    );
    await house.pass(minute);
  };
  const severity = async (): Promise<string> =>
    (await house.incident('heat:global:global'))!.severity;
  await heat(50);
  assert.equal(await severity(), 'info');
  await heat(50, 70);
  assert.equal(await severity(), 'critical', 'that of the worst');
  assert.deepEqual(
    house.notices.map(({ kind, incident }) => `${kind} ${incident.severity}`),
    ['firing info', 'firing critical'],
  );
  house.book.edit(rule.id, { runbook_url: 'https://example.org/heat' });
  await house.pass(interval);
  assert.equal(await severity(), 'critical', 'an edit of the rule does not take it back');
  await heat(50);
  assert.equal(await severity(), 'info');
  await heat(70);
  assert.equal(await severity(), 'critical', 'of the same instance');
  assert.equal(house.notices.at(-1)!.incident.severity, 'critical');
  await heat();
  assert.equal(house.notices.at(-1)!.kind, 'resolved');
});
