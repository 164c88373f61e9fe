import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ModelPart, ModelRequest } from 'svc/contracts/model';
import { SvcError } from 'svc/sdk';

import { textOf } from '../../../plugins/model/cli/fake-model/chat-request.ts';
import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import type { Report } from '../../../plugins/investigate/report/markdown.ts';
import { hot, investigateHouse } from './house.ts';

type Say = (digest: Digest) => unknown;

interface Digest {
  readonly series: readonly {
    readonly part: string;
    readonly evidence_id: string;
    readonly node: string;
    readonly metric: string;
  }[];
  readonly hypotheses: readonly { readonly node: string; readonly name: string }[];
}

const digestIn = (text: string): Digest =>
  JSON.parse(/<digest>\n(.*)\n<\/digest>/s.exec(text)![1]!) as Digest;

/** Creates a model that answers as configured, and counts its calls. */
function pretendModel(...says: readonly Say[]): {
  readonly services: Record<string, object>;
  readonly asked: ModelRequest[];
} {
  const asked: ModelRequest[] = [];
  const models = {
    usable: () => ({ ok: true, model: 'pretend/one', context: 100_000 }),
    async *stream(request: ModelRequest): AsyncIterable<ModelPart> {
      asked.push(request);
      const digest = digestIn((request.messages[1] as { text: string }).text);
      const said = says[Math.min(asked.length, says.length) - 1]!(digest);
      yield { type: 'text', delta: typeof said === 'string' ? said : JSON.stringify(said) };
      yield {
        type: 'end',
        finish: 'stop',
        model: 'pretend/one',
        usage: { input_tokens: 900, output_tokens: 100, cached_tokens: 0, estimated: false },
      };
    },
  };
  return { asked, services: { 'model.stream': models } };
}

async function assisted(
  t: Parameters<typeof investigateHouse>[0],
  ...says: readonly Say[]
): Promise<{ readonly report: Report & { markdown: string }; readonly asked: number }> {
  const { services, asked } = pretendModel(...says);
  const house = await investigateHouse(t, { services });
  await house.rule({ rule_key: 'cpu_hot', conditions: [{ expr: 'node_cpu_usage_percent > 90' }] });
  const incident = await house.fired('cpu_hot', hot(3));
  const report = await house.report(
    incident,
    ({ status, mode, degraded_reason: reason }) =>
      status === 'ready' && (mode === 'assisted' || reason !== null),
  );
  return { report, asked: asked.length };
}

const cpu = ({ series }: Digest): Digest['series'][number] =>
  series.find(({ metric, node }) => metric === 'node_cpu_usage_percent' && node === 'device:3')!;
const claim = (digest: Digest, text: string, more: object = {}) => {
  const { part, evidence_id: id } = cpu(digest);
  return {
    text,
    evidence_ids: [id],
    assertion: { evidence_id: id, part, stat: 'max', op: '>=', value: 97, tolerance: 0, ...more },
  };
};

/** One claim that holds, and ten lies. */
const lies: Say = (digest) => ({
  root_cause: { node: 'device:1', text: 'host-1 is out of memory' },
  confidence: 'high',
  claims: [
    claim(digest, 'The processor of host-3 reached 97'), // true
    claim(digest, 'The processor of host-3 stayed below 50', { op: '<', value: 50 }),
    claim(digest, 'The processor of host-3 reached 100000', { value: 97 }),
    claim(digest, 'The processor of host-1 reached 97'),
    claim(digest, 'The processor of host-3 was at 12', { op: '==', value: 12, tolerance: 1_000 }),
    {
      text: 'Nobody measured it',
      evidence_ids: ['E4711'],
      assertion: { evidence_id: 'E4711', stat: 'max', op: '>', value: 1 },
    },
    { text: 'A deploy broke it', evidence_ids: [cpu(digest).evidence_id] },
    {
      ...claim(digest, 'The memory of host-3 reached 97'),
      evidence_ids: [
        digest.series.find(({ evidence_id: id }) => id !== cpu(digest).evidence_id)?.evidence_id ??
          'E1',
      ],
    },
    claim(digest, 'It began at midnight', { stat: 'onset', op: '==', value: 1, tolerance: 0 }),
    claim(digest, 'There were 5 samples', { stat: 'count', op: '>', value: 1e6 }),
    claim(digest, 'A part that is not there reached 97', { part: 'device:9/none' }),
  ],
});

function assertNoLieIsAFact(report: Report): void {
  assert.equal(report.mode, 'assisted', report.degraded_reason ?? '');
  assert.equal(report.root_cause?.node.id, 'device:3');
  const said = report.claims.filter(({ origin }) => origin === 'model');
  assert.deepEqual(
    said.filter(({ status }) => status === 'verified').map(({ text }) => text),
    ['The processor of host-3 reached 97'],
  );
  assert.ok(
    said.filter(({ status }) => status === 'contradicted').length >= 3,
    JSON.stringify(said.map(({ status }) => status)),
  );
  assert.deepEqual(
    [report.disagreement?.node, report.disagreement?.why],
    [null, 'it names a node that is not there'],
  );
  assert.equal(report.confidence?.level, 'low');
  assert.equal(report.confidence?.lowered_by_model, true);
  assert.doesNotMatch(report.summary, /host-1/);
}

test('a model that lies in ten ways adds no fact, and the cause that was found stays', async (t) => {
  const { report } = await assisted(t, lies);
  assertNoLieIsAFact(report);
});

test('nor does one that lies over the wire, after it has looked with the tools that only read', async (t) => {
  const fake = await FakeModel.start({
    rules: [
      {
        when: { turn: 1, tools: ['metrics_query'] },
        reply: {
          tool_calls: [
            { name: 'metrics_query', arguments: { query: 'node_cpu_usage_percent' } },
            { name: 'device_reboot', arguments: {} },
          ],
        },
      },
      {
        when: { turn: 2 },
        reply: ({ messages }) => ({ text: JSON.stringify(lies(digestIn(textOf(messages[1]!)))) }),
      },
    ],
  });
  t.after(() => fake.close());
  const house = await investigateHouse(t, {
    plugins: [
      'metricsdb',
      'alert',
      'topology',
      'changes',
      'investigate',
      'model',
      'persona',
      'gate',
      'skill',
      'setting',
    ],
    services: {
      'iam.directory': { live: () => undefined },
      'audit.trail': { append: async () => undefined },
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    },
  });
  await house.rule({ rule_key: 'cpu_hot', conditions: [{ expr: 'node_cpu_usage_percent > 90' }] });
  const incident = await house.fired('cpu_hot', hot(3));
  const report = await house.report(
    incident,
    ({ mode, degraded_reason: reason }) => mode === 'assisted' || reason !== null,
  );
  assertNoLieIsAFact(report);
  const [first, second] = fake.requests.map(({ body }) => body);
  const told = second!.messages.filter(({ role }) => role === 'tool').map(textOf);
  assert.equal(told.length, 2);
  assert.match(told[0]!, /node_cpu_usage_percent|device_id/);
  assert.match(told[1]!, /There is no tool device_reboot here/);
  assert.ok(
    report.usage.tool_calls === 1 && report.usage.prompt_tokens > 0,
    JSON.stringify(report.usage),
  );
  const offered = first!.tools!.map((tool) => tool.function.name);
  assert.ok(!offered.includes('investigate') && offered.length > 0, offered.join(', '));
});

test('a model may lower the confidence and never raise it; what it spent is in the report', async (t) => {
  const { report, asked } = await assisted(t, (digest) => ({
    root_cause: { node: 'device:3', text: 'it is busy' },
    confidence: 'high',
    claims: [claim(digest, 'It reached 97')],
  }));
  assert.equal(report.confidence?.lowered_by_model, false);
  assert.equal(report.confidence?.value, report.confidence?.raw);
  assert.deepEqual(
    [report.usage.model, report.usage.prompt_tokens, report.usage.completion_tokens, asked],
    ['pretend/one', 900, 100, 1],
  );
  assert.equal(report.disagreement, null);
});

test('an answer that cannot be read is asked for once more; twice leaves the report as it was, and says so', async (t) => {
  const { report, asked } = await assisted(t, () => 'I think it is the database.');
  assert.equal(asked, 2);
  assert.equal(report.mode, 'deterministic');
  assert.match(
    report.degraded_reason ?? '',
    /without a model: .*cannot be read: the answer contains no JSON object/,
  );
  assert.equal(report.root_cause?.node.id, 'device:3');
});

test('a budget that is spent leaves the report as it was, and says so', async (t) => {
  const { report, asked } = await assisted(t, () => {
    throw new SvcError('budget_exceeded', 'the budget of this day is spent');
  });
  assert.deepEqual([report.status, report.mode, asked], ['ready', 'deterministic', 1]);
  assert.equal(report.degraded_reason, 'without a model: the budget of this day is spent');
  assert.equal(report.root_cause?.node.id, 'device:3');
});
