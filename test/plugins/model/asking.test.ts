import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { patternFor } from '../../../plugins/model/translate/patterns.ts';
import { modelStand, type Stand } from './stand.ts';

const translate = '/api/v1/aiops/query-translate';
const post = (body: object) => ({ method: 'POST', body: JSON.stringify(body) });

test('every pattern that a question finds is read by the engine of its dialect, without a model', async (t) => {
  const house = await startTestHost(t, { plugins: ['model', 'metricsdb', 'logs', 'traces'] });
  const asked = {
    promql: [
      'cpu of device 7 over the last 2 hours',
      'top memory',
      'when will the disk be full',
      'inodes',
      'network traffic received',
      'load',
      'targets down',
      'swap',
      'uptime',
    ],
    logql: [
      'errors of job nginx',
      'how many errors in the last 1h',
      'failed ssh logins',
      'timeouts',
      'oom kills of device 3: out of memory',
      'warnings',
      'logs',
    ],
    traceql: [
      'slow requests of service shop',
      'failed traces',
      'slow sql queries',
      'requests',
      'all 503 server errors',
    ],
  };
  for (const [dialect, prompts] of Object.entries(asked)) {
    for (const prompt of prompts) {
      const answer = await house.json(translate, post({ dialect, prompt }));
      assert.ok(answer.valid, `${prompt}: ${JSON.stringify(answer)}`);
    }
  }
  assert.equal(
    (await house.fetch(translate, post({ dialect: 'promql', prompt: 'zzz' }))).status,
    409,
  );
});

test('a pattern takes window and subject from the question', () => {
  assert.equal(
    patternFor('promql', 'cpu of device 7 over the last 2 hours')?.query,
    'avg by (device_id) (avg_over_time(node_cpu_usage_percent{device_id="7"}[2h]))',
  );
  assert.equal(
    patternFor('traceql', 'errors of service shop')?.query,
    '{ status = error && resource.service.name = "shop" }',
  );
});

test('a model is told what was wrong with its query, and a pattern answers when it fails', async (t) => {
  const { house, fake } = await modelStand(t, {
    rules: [
      { when: { last: 'nothing works' }, reply: { error: { status: 400 } } },
      { reply: { text: '```promql\nup == 0\n```\nTargets that are down.' } },
    ],
  });
  const unchecked = await house.json(
    translate,
    post({ dialect: 'promql', prompt: 'what is down' }),
  );
  // No store is here that could read it, so nothing claims that it is right.
  assert.deepEqual([unchecked.valid, fake.requests.length], [false, 2]);
  const failed = await house.json(
    translate,
    post({ dialect: 'logql', prompt: 'errors: nothing works' }),
  );
  assert.match(failed.explanation, /because the model failed: compatible rejected the request/);
});

test('the doctor says what a model can do and what not', async (t) => {
  const able = [
    { name: 'look_up', arguments: { city: 'Paris' } },
    { name: 'look_up', arguments: { city: 'Rome' } },
  ];
  const good = await modelStand(t, {
    rules: [
      { when: { tools: ['look_up'], turn: 1 }, reply: { tool_calls: able } },
      { when: { last: 'code word' }, reply: { text: 'TOURMALINE' } },
      { reply: { text: 'one two three' } },
    ],
  });
  const path = '/api/v1/integrations/llm/doctor';
  const found = await good.house.json(path, post({}));
  assert.deepEqual(
    [found.ok, found.model, found.findings.map(({ ok }: { ok: boolean }) => ok)],
    [true, 'compatible/demo', Array.from({ length: 7 }, () => true)],
  );
  const poor = await modelStand(t, {
    rules: [{ reply: { text: 'one two', misbehave: ['no-usage'] } }],
  });
  const { ok, findings } = await poor.house.json(path, post({ model: 'compatible/demo' }));
  const failing = findings
    .filter((finding: { ok: boolean }) => !finding.ok)
    .map(({ check }: { check: string }) => check);
  assert.deepEqual([ok, failing], [false, ['counts', 'tools', 'parallel', 'window']]);

  const shown = ({ house }: Stand): Promise<{ code: number; out: string }> =>
    new Promise((resolve) =>
      execFile(
        process.execPath,
        ['bin/svc', 'llm', 'doctor', '--url', house.url, '--token', house.token],
        (error, out) => resolve({ code: error === null ? 0 : Number(error.code), out }),
      ),
    );
  const scripted = await shown(poor);
  assert.equal(scripted.code, 1);
  assert.match(
    scripted.out,
    /^Agents cannot work with compatible\/demo as it is; choose another model with llm\.default_model\nok +answers\n.*\nnot ok +does not call tools/s,
  );
  const none = await shown(await modelStand(t, {}, { SVC_LLM_COMPATIBLE_BASE_URL: '' }));
  assert.equal(none.code, 1);
  assert.match(
    none.out,
    /^There is no model to test, so agents do not answer\nnot ok +The model "comp.*not configured/,
  );
});
