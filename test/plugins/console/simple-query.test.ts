import assert from 'node:assert/strict';
import { test } from 'node:test';

import { resolved } from '../../../plugins/console/web/pages/explore/formula.ts';
import { parsed, written } from '../../../plugins/console/web/pages/explore/simple-query.ts';

test('a query that a form can show is read and written as it was', () => {
  for (const query of [
    'up',
    'node_load1{device_id="7", job!="a\\"b"}',
    'rate(http_requests_total{code=~"5.."}[5m])',
    'sum(node_memory_used_bytes)',
    'max by (device_id, mountpoint) (avg_over_time(node_filesystem_used_percent[1h]))',
    '',
  ]) {
    const form = parsed(query);
    assert.ok(form, query);
    assert.equal(written(form), query);
  }
  assert.deepEqual(parsed('sum by(job)(up{a="{[,("})')?.filters, [
    { label: 'a', operator: '=', value: '{[,(' },
  ]);
});

test('a query beyond a form is not shown as one', () => {
  for (const query of [
    'a / b',
    'sum(a) / sum(b)',
    'rate(a[5m]) > 3',
    'topk(5, a)',
    'rate(a[5m] offset 1d)',
    'sum without (job) (a)',
    'a{b="c"',
    'a{b="\\x41"}',
    '1',
  ]) {
    assert.equal(parsed(query), undefined, query);
  }
});

test('a letter stands for its query, but not in texts, labels and names; a circle stands for nothing', () => {
  assert.equal(resolved(['up', 'A * 2', 'B / A'], 2), '((up) * 2) / (up)');
  assert.equal(
    resolved(['x{A="A"}', 'A + AB + rate(y[1m]) + "A"'], 1),
    '(x{A="A"}) + AB + rate(y[1m]) + "A"',
  );
  assert.equal(resolved(['B', 'A'], 0), undefined);
  assert.equal(resolved(['A'], 0), undefined);
});
