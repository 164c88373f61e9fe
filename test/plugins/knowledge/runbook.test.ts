import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runbookOf } from '../../../plugins/knowledge/runbook/runbook.ts';
import { playbooks } from '../../docs/playbooks.ts';
import { knowledgeHouse } from './house.ts';

const playbook = `---
title: Disk
---

## Symptom

Full.

## First three readings

Replace 7 with the device ID. The second needs postgres_exporter.

1. How full?

   \`\`\`promql
   node_filesystem_used_percent{device_id="7"}
   \`\`\`

2. Who
   says so?

   \`\`\`logql
   {device_id="7"} |= "full"
   \`\`\`

## When to call someone

- The owner: at once.

## Fix

- Look first.
- Restart it.

  \`\`\`sh
  du -xhd1 /
  systemctl restart shop.service
  \`\`\`

  Risk: requests fail.
  Takes: 1 min. Undo: none.

## Verify

\`\`\`promql
node_filesystem_used_percent{device_id="7"}
\`\`\`

It is low.
`;

test('a playbook becomes readings of one device, people to call and steps with their cost', () => {
  assert.deepEqual(runbookOf(playbook, 12), {
    needs: 'The second needs postgres_exporter.',
    readings: [
      {
        text: 'How full?',
        language: 'promql',
        query: 'node_filesystem_used_percent{device_id="12"}',
        needs_device: false,
      },
      {
        text: 'Who says so?',
        language: 'logql',
        query: '{device_id="12"} |= "full"',
        needs_device: false,
      },
    ],
    call: ['The owner: at once.'],
    steps: [
      { text: 'Look first.', commands: [], cost: null, change: null },
      {
        text: 'Restart it.',
        commands: ['du -xhd1 /\nsystemctl restart shop.service'],
        cost: { risk: 'requests fail.', takes: '1 min.', undo: 'none.' },
        change: { skill: 'service_restart', service: 'shop.service' },
      },
    ],
    checks: [
      {
        text: 'It is low.',
        language: 'promql',
        query: 'node_filesystem_used_percent{device_id="12"}',
        needs_device: false,
      },
    ],
  });
});

test('every shipped playbook has readings that name the device that was given, whom to call, steps and a check', () => {
  for (const { path, body } of playbooks) {
    const { readings, call, steps, checks } = runbookOf(body, 12);
    assert.ok(readings.length >= 3, `${path} has ${readings.length} readings`);
    assert.ok(call.length > 0 && steps.length > 2, path);
    assert.ok(
      checks.length > 0 || /^## Verify\n\n```sh/m.test(body),
      `${path} has no check that can be run`,
    );
    for (const { query, text } of [...readings, ...checks]) {
      assert.ok(!query.includes('device_id="7"') && text !== '', `${path}: ${query}`);
    }
    for (const { text, cost } of steps) {
      assert.ok(text !== '' && !text.includes('Risk:'), `${path}: ${text}`);
      assert.ok(cost === null || !cost.undo.includes('\n'), path);
    }
  }
});

test('the API gives the steps of a document, with the device filled in', async (t) => {
  const { ask, add } = await knowledgeHouse(t);
  const { id } = await add('vault/hosts/disk.md', playbook);
  const { status, body } = await ask(
    'GET',
    `/runbook?doc=${encodeURIComponent('playbook://hosts/disk.md')}&device_id=12`,
  );
  assert.deepEqual(
    [status, body.id, body.readings[0].query, body.steps[1].change],
    [
      200,
      id,
      'node_filesystem_used_percent{device_id="12"}',
      { skill: 'service_restart', service: 'shop.service' },
    ],
  );
  const unfilled = await ask('GET', `/runbook?doc=${id}`);
  assert.equal(unfilled.body.readings[0].needs_device, true);
  assert.equal((await ask('GET', '/runbook?doc=playbook://hosts/none.md')).status, 404);
});
