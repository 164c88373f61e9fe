import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { peer } from '../../peers.ts';
import { rulesHouse } from './rules-house.ts';

const group = (rules: string, more = ''): string =>
  `groups:\n- name: g${more}\n  rules:\n${rules.replaceAll(/^/gm, '  ')}\n`;

/** Rule files that are right or wrong in one place each. */
const files: readonly string[] = [
  'groups: []',
  group('- {alert: A, expr: up == 0}'),
  group(
    '- {alert: A, expr: up == 0, for: 5m, keep_firing_for: 1m, labels: {severity: page}, annotations: {s: "{{ $value }}"}}',
  ),
  group('- {record: "a:b", expr: sum(up), labels: {x: y}}'),
  group('- &base {alert: A, expr: up == 0, labels: {a: b}}\n- {<<: *base, alert: B}'),
  group('- {alert: A, expr: up == 0, labels: {tier: "{{ $labels.tier }}"}}'),
  group('- {alert: A, expr: vector(1)}\n- {alert: A, expr: vector(2)}'),
  group('- {alert: A, expr: up == 0}', '\n  interval: 30s\n  limit: 10'),
  group('- {record: r, expr: up, for: 0s}'),
  group('- {alert: A, expr: up == 0, fro: 5m}'),
  group('- {alert: A, expr: up == }'),
  group('- {alert: A, expr: sum by (a (up)}'),
  group('- {alert: A, expr: nosuchfunction(up)}'),
  group('- {alert: A, expr: up + "x"}'),
  group('- {alert: A}'),
  group('- {expr: up}'),
  group('- {alert: A, record: r, expr: up}'),
  group('- {alert: A, expr: up == 0, for: soon}'),
  group('- {alert: A, expr: up == 0, for: 5}'),
  group('- {alert: A, expr: up == 0, keep_firing_for: 1 m}'),
  group('- {alert: A, expr: up == 0, labels: {__name__: x}}'),
  group('- {alert: A, expr: up == 0, annotations: {s: "{{ $value "}}'),
  group('- {alert: A, expr: up == 0, annotations: {s: "{{ nosuchfunction 1 }}"}}'),
  group('- {alert: A, expr: up == 0, labels: {s: "{{ end }}"}}'),
  group('- {record: r, expr: up, annotations: {a: b}}'),
  group('- {record: r, expr: up, for: 1m}'),
  group('- {record: r, expr: up(}'),
  group('- {alert: A, expr: up == 0, alert: B}'),
  group('- {alert: A, expr: up == 0}', '\n  interval: often'),
  group('- {alert: A, expr: up == 0}', '\n  surprise: 1'),
  `${group('- {alert: A, expr: up == 0}')}- name: g\n  rules: []\n`,
  `${group('- {alert: A, expr: up == 0}')}more: 1\n`,
  'groups:\n- rules:\n  - {alert: A, expr: up == 0}\n',
  'groups: [',
  group('- {alert: A, expr: up == 0, labels: {alertname: x}}'),
  group('- {alert: "", expr: up == 0}'),
  group('- {alert: A, expr: ""}'),
  group('- {alert: A, expr: 1}'),
  group('- {alert: A, expr: up == 0, labels: {a: 1}}'),
  group('- {alert: A, expr: up == 0, for: 1h30m}'),
  group('- {alert: A, expr: up == 0, for: -5m}'),
  group('- {alert: A, expr: "up offset 5m == 0"}'),
  group('- {record: r, expr: up, labels: {a: "{{ $labels.b }}"}}'),
  group('- {alert: A, expr: up == 0}', '\n  limit: x'),
  group('- {alert: A, expr: up == 0}', '\n  interval: 0s'),
  'groups: {}',
  'groups:\n- name: ""\n  rules: []\n',
];

test('a rule file is refused exactly when promtool refuses it', async (t) => {
  const promtool = peer(t, 'promtool');
  if (promtool === undefined) {
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-verdicts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { call } = await rulesHouse(t);
  const verdicts = { right: 0, wrong: 0 };
  for (const [at, content] of files.entries()) {
    const path = join(folder, `${at}.yaml`);
    writeFileSync(path, content);
    const theirs: string = await promisify(execFile)(promtool, [
      'check',
      'rules',
      '--lint=none',
      path,
    ]).then(
      () => 'right',
      ({ stderr }: { readonly stderr: string }) => stderr,
    );
    const { status, body } = await call('POST', 'alert-rules/import', { content, dry_run: true });
    assert.equal(
      status,
      theirs === 'right' ? 200 : 400,
      `${content}\n${theirs}\n${JSON.stringify(body)}`,
    );
    verdicts[status === 200 ? 'right' : 'wrong'] += 1;
  }
  // Names of any letters, as Prometheus has them since its third version; the peer of Debian is of the second.
  for (const rule of [
    '- {alert: A, expr: up == 0, labels: {a-b: x}}',
    '- {record: a-b, expr: up}',
  ]) {
    assert.equal(
      (await call('POST', 'alert-rules/import', { content: group(rule), dry_run: true })).status,
      200,
      rule,
    );
  }
  // Promtool lets a range pass, which fails at each evaluation: said at once here.
  const { status, body } = await call('POST', 'alert-rules/import', {
    content: group('- {alert: A, expr: "up[5m]"}'),
    dry_run: true,
  });
  assert.deepEqual([status, /answers a range of samples/.test(body.message)], [400, true]);
  assert.ok(
    verdicts.right + verdicts.wrong >= 42 && verdicts.right >= 14,
    JSON.stringify(verdicts),
  );
});
