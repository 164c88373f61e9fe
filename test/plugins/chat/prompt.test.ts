import assert from 'node:assert/strict';
import { test } from 'node:test';

import { noDigest, withRun } from '../../../plugins/chat/prompt/digest.ts';
import { promptOf } from '../../../plugins/chat/prompt/prompt.ts';
import { type Entry, replay, type RunState } from '../../../plugins/chat/run/journal.ts';
import { nextStep } from '../../../plugins/chat/run/next-step.ts';
import type { MessageRow } from '../../../plugins/chat/store.ts';
import { persona } from './stand-ins.ts';

const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, estimated: false };
const clock = { now: () => 0, monotonic: () => 0 };

/** A run that has read one thing and had one change decided. */
function run(number: number, result: string): readonly Entry[] {
  const [read, change] = [`r${number}`, `c${number}`];
  const call = (id: string, tool: string) => ({ id, name: tool, tool, args: { number } });
  return [
    { kind: 'asked', content: `Ask ${number}?`, agent: undefined, context: {} },
    { kind: 'routed', agent: 'sre', version: 1, why: '', prompt: `Ask ${number}?`, kernel: 'graph', max_turns: 4, tainted: false, evidence: [] },
    { kind: 'answered', text: '', calls: [call(read, 'log_query'), call(change, 'service_restart')], finish: 'tool_calls', usage, model: 'm' },
    { kind: 'waiting', call: change, approval: `A${number}`, class: 'mutating' },
    {
      ...{ kind: 'finished', call: read, status: 'ok', text: result, trust: 'untrusted', duration_ms: 1 },
      evidence: { id: `E${number}`, tool: 'log_query', bytes: result.length, preview: '' } as never,
    },
  ];
}

const decided = (number: number): Entry => ({
  ...{ kind: 'finished', call: `c${number}`, status: 'denied', text: 'denied by anna', trust: 'trusted', evidence: undefined, duration_ms: 1 },
});

const promptIn = (window: number, state: RunState, rounds: number): ReturnType<typeof promptOf> => {
  const past = Array.from({ length: rounds }, (_, at) => replay([...run(at, 'x'), decided(at)]));
  const history = past.flatMap((_, at) => [
    { role: 'user', content: `Ask ${at}?` },
    { role: 'assistant', content: `Answer ${at}. ${'word '.repeat(200)}` },
  ]) as unknown as MessageRow[];
  const offer = { tools: [], deferred: [], byName: new Map() };
  return promptOf({
    ...{ state, persona: persona({ name: 'sre' }), systemContext: '', model: 'm', offer, guides: [], agents: [], history, window, clock },
    digest: past.reduce(withRun, noDigest),
  });
};

test('what no longer fits into a prompt leaves its asks, its decisions and its evidence there', () => {
  const long = 'line of a log; '.repeat(4_000);
  const state = replay([...run(99, long), decided(99)]);
  const { messages, compacted } = promptIn(6_000, state, 30);
  assert.equal(compacted, true);
  const [system, ...rest] = messages;
  const text = JSON.stringify(system);
  for (const kept of ['Ask 0?', 'Ask 29?', 'service_restart', 'denied', 'E0 (log_query)', 'E29 (log_query)']) {
    assert.ok(text.includes(kept), `${kept} stands in the system text`);
  }
  const said = JSON.stringify(rest);
  assert.ok(!said.includes('Answer 0.'), 'the oldest answers are left out');
  assert.ok(said.includes('Answer 29.'), 'the newest stays');
  assert.ok(said.includes('shortened; evidence_read has the rest') && said.includes('Ask 99?'));
  assert.ok(JSON.stringify(messages).length < 6_000 * 3 * 1.1, 'it fits');
});

test('while an approval is open nothing is asked of a model, so none is lost from a prompt', () => {
  assert.equal(nextStep(replay(run(1, 'x'))).do, 'wait');
  assert.equal(nextStep(replay([...run(1, 'x'), decided(1)])).do, 'ask');
});
