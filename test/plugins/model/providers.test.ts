import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';

import {
  type ModelEffort,
  type ModelMessage,
  type ModelPart,
  ModelRuns,
  type ModelRequest,
} from 'svc/contracts/model';
import { startTestHost, type TestHost } from 'svc/testing';

import { endOf, requestOf, textOf } from './stand.ts';
import { anthropic } from './vendors/anthropic.ts';
import { bedrock } from './vendors/bedrock.ts';
import { chats } from './vendors/chats.ts';
import { gemini } from './vendors/gemini.ts';
import { responsesOf } from './vendors/responses.ts';
import { type Dialect, type Said, Vendors } from './vendors/vendor.ts';

const dialects: readonly Dialect[] = [
  responsesOf('openai', 'gpt-5.6-terra', 'bearer'),
  anthropic,
  gemini,
  ...chats,
  responsesOf('azure', 'our-gpt-5.1', 'api-key'),
  bedrock,
];

/** As much text as the tools of a first start have: 19 KB. */
const tools = ['disk.usage', 'logs.query'].map((name) => ({
  name,
  description: `What ${name} is for, at some length: ${'it reads and changes nothing. '.repeat(300)}`,
  schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}));
const system = [
  { role: 'system', text: `You are careful. ${'Say what you see. '.repeat(60)}` },
  { role: 'system', text: 'Asked earlier in this session:\n- Why is web-1 slow?' },
] as const;

let vendors: Vendors;
let house: TestHost;
const ending: (() => unknown)[] = [];
const context = {
  after: (work: () => unknown) => void ending.push(work),
} as unknown as TestContext;

before(async () => {
  vendors = await Vendors.start(dialects);
  ending.push(() => vendors.close());
  const settings = dialects.flatMap(({ provider }) => [
    [`SVC_LLM_${provider.toUpperCase()}_BASE_URL`, vendors.urlOf(provider)],
    [`SVC_LLM_${provider.toUpperCase()}_API_KEY`, provider === 'bedrock' ? 'AK:secret' : 'key'],
  ]);
  house = await startTestHost(context, {
    plugins: ['model'],
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_IDLE_TIMEOUT_SECONDS: '5',
      ...Object.fromEntries(settings),
    },
  });
});
after(async () => {
  for (const work of ending.toReversed()) {
    await work();
  }
});

/** A conversation as the chat keeps it: every turn goes through JSON, as through a journal. */
class Talk {
  readonly #model: string;
  readonly #effort: ModelEffort | undefined;
  messages: ModelMessage[] = [...system, { role: 'user', text: 'How full is the disk of web-1?' }];
  #turn = 0;

  constructor({ provider, model }: Dialect, effort?: ModelEffort) {
    this.#model = `${provider}/${model}`;
    this.#effort = effort;
  }

  async ask(request: Partial<ModelRequest> = {}): Promise<ModelPart[]> {
    this.#turn += 1;
    const parts: ModelPart[] = [];
    const stream = house.service(ModelRuns).stream(
      requestOf({
        model: this.#model,
        messages: this.messages,
        tail: `It is 12:0${this.#turn}. Never guess.`,
        tools,
        effort: this.#effort,
        ...request,
      }),
    );
    for await (const part of stream) {
      parts.push(part);
    }
    this.#remember(parts);
    return parts;
  }

  #remember(parts: readonly ModelPart[]): void {
    const { kept, model } = endOf(parts);
    const calls = parts.flatMap((part) =>
      part.type === 'call'
        ? [{ id: `ours-${this.#turn}-${part.index}`, name: part.name, args: part.args! }]
        : [],
    );
    this.messages.push(
      {
        role: 'assistant',
        text: textOf(parts),
        calls,
        ...(kept && { kept: { model, blocks: kept } }),
      },
      ...calls.map(({ id, name }): ModelMessage => ({
        role: 'tool',
        call_id: id,
        name,
        text: `91 % of /, ${'x'.repeat(40)}`,
        failed: false,
      })),
    );
    this.messages = JSON.parse(JSON.stringify(this.messages)) as ModelMessage[];
  }
}

const call = (name: string, path: string) => ({ name, args: { path } });
const investigation: readonly Said[] = [
  { thinking: 'First I look at the disk.', calls: [call('disk_usage', '/')] },
  {
    thinking: 'Then at two things at once.',
    text: 'One moment.',
    calls: [call('logs_query', '/var/log'), call('disk_usage', '/home')],
  },
  { thinking: 'Once more.', calls: [call('disk_usage', '/srv')] },
  { thinking: 'That is all.', text: 'The disk is 91 % full.' },
];

for (const dialect of dialects) {
  const { provider, model } = dialect;
  const effort = dialect.caching === 'explicit' ? 'medium' : undefined;

  test(`${provider}: three turns with tools and thoughts, served from its cache from the third on`, async () => {
    const talk = new Talk(dialect, effort);
    vendors.script.splice(0, 10, ...investigation);
    for (const [turn, { calls = [], text = '' }] of investigation.entries()) {
      const parts = await talk.ask({ mayCall: turn < 3 });
      const made = parts.flatMap((part) => (part.type === 'call' ? [[part.name, part.args]] : []));
      assert.deepEqual(
        made,
        calls.map(({ name, args }) => [name.replace('_', '.'), args]),
      );
      assert.equal(textOf(parts), text);
      const { finish, usage } = endOf(parts);
      assert.equal(finish, calls.length > 0 ? 'tool-calls' : 'stop');
      const share = usage.cached_tokens / usage.input_tokens;
      assert.ok(turn < 2 || share >= 0.8, `turn ${turn + 1}: ${Math.round(100 * share)} %`);
    }
    // A later question of the session: thoughts are still returned, and in order.
    talk.messages.push({ role: 'user', text: 'And since when?' });
    vendors.script.push({ thinking: 'Easy.', text: 'Since noon.' });
    assert.equal(textOf(await talk.ask()), 'Since noon.');
    const { by_model: rows } = await house.json('/api/v1/usage/today');
    const row = rows.find(({ model: id }: { model: string }) => id === `${provider}/${model}`);
    assert.ok(row.cached_tokens > 0 && row.requests === 5);
  });

  test(`${provider}: a cut-off is said, a 429 is asked again`, async () => {
    const talk = new Talk(dialect, effort);
    vendors.script.splice(0, 10, { fault: 'busy' }, { thinking: 'Long, long.', cut: true });
    const asked = vendors.requests.length;
    const parts = await talk.ask();
    assert.deepEqual([endOf(parts).finish, textOf(parts)], ['length', '']);
    assert.deepEqual(
      vendors.requests.slice(asked).map(({ status }) => status),
      [429, 200],
    );
  });
}
