import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RuleFiles } from '../../../plugins/alert/rule-thread/rule-files.ts';
import { readRuleFile } from '../../../plugins/alert/rule-file/prometheus-file.ts';
import { openRuleFiles } from '../../../plugins/alert/rule-thread/open-rule-files.ts';

const rule =
  '  - alert: HostDown\n    expr: up == 0\n    labels: {severity: page}\n    annotations:\n      summary: "a ü \\u2028"\n';
const fileOf = (rules: number): string => `groups:\n- name: g\n  rules:\n${rule.repeat(rules)}`;

test('a large rule file is read in the thread, and is the same as one read at once', async () => {
  const called: string[] = [];
  const { methods } = await openRuleFiles();
  const files = new RuleFiles({
    async call<R>(method: string, input?: unknown): Promise<R> {
      called.push(method);
      return methods[method as 'rules'](input as never) as R;
    },
  });
  assert.deepEqual(
    await files.rules({ content: fileOf(1), strict: true }),
    readRuleFile(fileOf(1)),
  );
  assert.deepEqual(called, []);
  assert.deepEqual(
    await files.rules({ content: fileOf(2_000), strict: true }),
    readRuleFile(fileOf(2_000)),
  );
  assert.deepEqual(called, ['rules']);
  await assert.rejects(files.rules({ content: `${fileOf(200)}\n  wrong`, strict: true }), {
    code: 'invalid_argument',
  });
});

test('a short text of many values is refused before they take memory', () => {
  assert.throws(() => readRuleFile(`groups: [${'a,'.repeat(130_000)}a]`), {
    status: 413,
    message: /more than 250,000 YAML tokens/,
  });
});
