import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost } from 'svc/testing';

const plugins = fileURLToPath(new URL('../../../plugins', import.meta.url));

/** Every file of a folder, its folders included. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );

/**
 * Written to the store for each edge, connected store and check that there is, instead of being
 * counted: test/plugins/edge/alerting.test.ts, test/plugins/connected-stores and test/plugins/checks
 * have some.
 */
const pushed: readonly string[] = [
  'svc_edge_online',
  'svc_host_online',
  'svc_connected_store_up',
  'svc_check_up',
  'svc_check_stale',
  'svc_check_muted',
  'svc_heartbeat_up',
  'svc_objective_up',
  'svc_objective_target_ratio',
  'svc_objective_budget_left_ratio',
];

/** Names of our own metrics, by the file that counts on them. */
function named(): ReadonlyMap<string, readonly string[]> {
  const files = filesIn(plugins).filter((file) =>
    /[/\\]dashboards[/\\][^/\\]+\.yaml$|[/\\]alert[/\\]rules[/\\][^/\\]+\.json$/.test(file),
  );
  // A prefix that tells where metrics come from ends in an underscore; the other word is where a rule comes from.
  return new Map(
    files.map((file) => [
      file.slice(plugins.length + 1),
      [...new Set(readFileSync(file, 'utf8').match(/\bsvc_(?!builtin\b)\w*[a-z0-9]\b/g))],
    ]),
  );
}

test('what shipped dashboards and rules ask about this service is there, and no name says its plugin twice', async (t) => {
  const house = await startTestHost(t, {
    plugins: readdirSync(plugins).filter((id) =>
      filesIn(join(plugins, id)).some((file) => file.endsWith('plugin.json')),
    ),
  });
  const text = await (await house.fetch('/metrics')).text();
  const there = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? parts(name!) : [name!],
    ),
  );
  const asked = [...named()].flatMap(([file, names]) => names.map((name) => `${file}: ${name}`));
  assert.ok(asked.length >= 15, asked.join());
  assert.deepEqual(
    asked.filter(
      (line) => !there.has(line.split(': ')[1]!) && !pushed.includes(line.split(': ')[1]!),
    ),
    [],
  );
  assert.deepEqual(
    [...there].filter((name) => /^svc_([a-z]+)_\1_/.test(name)),
    [],
  );
  // A panel of what is counted begins at the start of the house, not with the first time that it happens.
  for (const series of [
    'svc_alert_rule_errors_total{store="metrics"}',
    'svc_notify_outcomes_total{result="failed"}',
  ]) {
    assert.ok(text.includes(`\n${series} `), series);
  }
});

const parts = (name: string): readonly string[] => [
  name,
  `${name}_bucket`,
  `${name}_sum`,
  `${name}_count`,
];
