import assert from 'node:assert/strict';
import { test } from 'node:test';

import { apply, type Entry, replay, type RunState } from '../../../plugins/chat/journal/journal.ts';
import { nextStep } from '../../../plugins/chat/run/next-step.ts';
import { objection, strangeAddress } from '../../../plugins/chat/tools/call-guard.ts';
import { finalText } from '../../../plugins/chat/run/closing.ts';

const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, estimated: false };
const asked: Entry = { kind: 'asked', content: 'Why?', agent: undefined, context: {} };
const routed = (over: object = {}): Entry => ({
  kind: 'routed',
  agent: 'sre',
  version: 1,
  why: '',
  prompt: 'Why?',
  kernel: 'graph',
  max_turns: 4,
  tainted: false,
  evidence: [],
  ...over,
});
const answered = (
  text: string,
  calls: readonly (readonly [id: string, tool: string, args?: object])[] = [],
  finish = 'stop',
): Entry => ({
  kind: 'answered',
  text,
  calls: calls.map(([id, tool, args]) => ({
    id,
    name: tool,
    tool,
    args: args as Record<string, unknown> | undefined,
  })),
  finish,
  usage,
  model: 'm',
});
const finished = (call: string, over: object = {}): Entry => ({
  kind: 'finished',
  call,
  status: 'ok',
  text: '{}',
  trust: 'trusted',
  evidence: undefined,
  duration_ms: 0,
  ...over,
});
const after = (...entries: readonly Entry[]): RunState => replay([asked, ...entries]);
const stepAfter = (...entries: readonly Entry[]) => nextStep(after(...entries));

test('a run routes, asks, calls, waits, asks again and ends', () => {
  const plan = answered('', [
    ['a', 'x', {}],
    ['b', 'y', {}],
  ]);
  assert.equal(stepAfter().do, 'route');
  assert.deepEqual(stepAfter(routed()), { do: 'ask', last: false });
  const planned = stepAfter(routed(), plan);
  assert.deepEqual(planned.do === 'plan' && planned.calls.map(({ id }) => id), ['a', 'b']);
  const waiting: Entry = { kind: 'waiting', call: 'a', approval: '1', class: 'mutating' };
  assert.equal(stepAfter(routed(), plan, waiting).do, 'plan', 'the other call is decided first');
  assert.equal(stepAfter(routed(), plan, waiting, finished('b')).do, 'wait');
  assert.equal(
    stepAfter(routed(), plan, waiting, { kind: 'started', call: 'a', class: 'mutating' }).do,
    'recover',
  );
  assert.deepEqual(stepAfter(routed(), plan, finished('b'), finished('a')), {
    do: 'ask',
    last: false,
  });
  assert.deepEqual(stepAfter(routed(), plan, finished('b'), finished('a'), answered('So.')), {
    do: 'end',
    finish: 'stop',
  });
});

test('the legacy kernel takes one call at a time and checks no citation', () => {
  const plan = answered('', [
    ['a', 'x', {}],
    ['b', 'y', {}],
  ]);
  const step = stepAfter(routed({ kernel: 'legacy' }), plan);
  assert.deepEqual(step.do === 'plan' && step.calls.map(({ id }) => id), ['a']);
  assert.deepEqual(stepAfter(routed({ kernel: 'legacy' }), answered('[E7] says so')), {
    do: 'end',
    finish: 'stop',
  });
  assert.equal(stepAfter(routed(), answered('[E7] says so')).do, 'note');
  assert.equal(stepAfter(routed({ evidence: ['E7'] }), answered('[E7] says so')).do, 'end');
});

test('the last turn has no tools, and a model that calls one all the same gets no further turn', () => {
  const turn = (id: string) => [answered('', [[id, 'x', {}]]), finished(id)];
  assert.deepEqual(stepAfter(routed({ max_turns: 1 })), { do: 'ask', last: true });
  assert.deepEqual(stepAfter(routed({ max_turns: 3 }), ...turn('a'), ...turn('b')), {
    do: 'ask',
    last: true,
  });
  assert.deepEqual(stepAfter(routed({ max_turns: 3 }), ...turn('a'), ...turn('b'), ...turn('c')), {
    do: 'end',
    finish: 'length',
  });
});

test('an answer that is cut off goes on once, an empty one is asked for twice', () => {
  const cut = answered('The cause is ', [], 'length');
  const step = stepAfter(routed(), cut);
  assert.ok(step.do === 'note' && step.about === 'continue');
  const noted: Entry = { kind: 'noted', about: 'continue', text: 'go on' };
  assert.deepEqual(stepAfter(routed(), cut, noted), { do: 'ask', last: false });
  const state = after(routed(), cut, noted, answered('the disk.'));
  assert.deepEqual(
    [nextStep(state), finalText(state)],
    [{ do: 'end', finish: 'stop' }, 'The cause is the disk.'],
  );
  assert.deepEqual(stepAfter(routed(), cut, noted, answered('the', [], 'length')), {
    do: 'end',
    finish: 'length',
  });
  const empty: readonly Entry[] = [answered(' '), { kind: 'noted', about: 'empty', text: '?' }];
  assert.equal(stepAfter(routed(), answered('')).do, 'note');
  assert.deepEqual(stepAfter(routed(), ...empty, ...empty, answered('')), {
    do: 'end',
    finish: 'error',
  });
});

test('whatever a run has come to, it ends in a bounded number of steps', () => {
  for (const reply of [
    answered('', [['a', 'x', {}]]),
    answered(''),
    answered('[E1]'),
    answered('x', [], 'length'),
  ]) {
    let state = after(routed({ max_turns: 20 }));
    let steps = 0;
    for (let step = nextStep(state); step.do !== 'end'; step = nextStep(state)) {
      assert.ok(++steps < 100, JSON.stringify(step));
      const entry =
        step.do === 'ask'
          ? reply
          : step.do === 'note'
            ? ({ kind: 'noted', about: step.about, text: step.text } as Entry)
            : finished('a');
      state = apply(state, entry);
    }
  }
});

test('calls that repeat or fail again and again are answered without being made, also beside each other', () => {
  const againstLast = (state: RunState) => objection(state, state.turns.at(-1)!.calls.at(-1)!);
  const made = (id: string, args: object, over: object = {}) => [
    answered('', [[id, 'x', args]]),
    finished(id, over),
  ];
  const same = [...made('a', { q: 1, r: 2 }), ...made('b', { r: 2, q: 1 })];
  assert.match(
    againstLast(after(routed(), ...same, answered('', [['c', 'x', { q: 1, r: 2 }]])))!,
    /2 times already/,
  );
  assert.equal(
    againstLast(after(routed(), ...same, answered('', [['c', 'x', { q: 2 }]]))),
    undefined,
  );
  const failing = [1, 2, 3].flatMap((q) => made(`f${q}`, { q }, { status: 'error' }));
  assert.match(
    againstLast(after(routed(), ...failing, answered('', [['c', 'x', { q: 9 }]])))!,
    /failed 3 times in a row/,
  );
  const many = Array.from({ length: 10 }, (_, q) => made(`m${q}`, { q })).flat();
  assert.match(
    againstLast(after(routed(), ...many, answered('', [['c', 'x', { q: 99 }]])))!,
    /10 times in this run/,
  );
  assert.match(againstLast(after(routed(), answered('', [['a', 'x']])))!, /not one JSON object/);
  const beside = answered(
    '',
    Array.from({ length: 11 }, (_, q) => [`b${q}`, 'x', { q }] as const),
  );
  assert.match(againstLast(after(routed(), beside))!, /10 times in this run/);
});

test('a run that has read text from outside calls only addresses that a person or a setting has named, however they are written', () => {
  const strange = (
    args: Readonly<Record<string, unknown>>,
    words = 'Why?',
    known: readonly string[] = [],
  ) => strangeAddress(args, {}, { words: [words], known });
  const places: readonly (readonly [args: Readonly<Record<string, unknown>>, named: string])[] = [
    [{ host: 'evil.example' }, 'Is evil.example up?'],
    [{ url: 'http://evil.example:81/y' }, 'look at EVIL.example.'],
    [{ url: 'http://evil.example./x' }, 'http://evil.example/other'],
    [{ url: 'http://2130706441/x' }, 'what is on 127.0.0.9:8080?'],
    [{ url: 'http://0x7f.9/x' }, '"127.0.0.9"'],
    [{ server: '::1' }, 'ask [::1]:53'],
    [{ name: 'stolen-data.evil.example' }, 'resolve stolen-data.evil.example'],
    [{ request: { urls: ['https://evil.example/a'] } }, '(evil.example)'],
    [{ text: ' https://evil.example/a ' }, 'evil.example'],
    [{ hostname: 'db-3' }, 'ping db-3!'],
  ];
  for (const [args, named] of places) {
    assert.notEqual(strange(args), undefined, JSON.stringify(args));
    assert.equal(strange(args, named), undefined, `${JSON.stringify(args)} after: ${named}`);
  }
  assert.notEqual(
    strange({ host: 'data.evil.example' }, 'evil.example'),
    undefined,
    'what lies below a name is another name',
  );
  assert.notEqual(
    strange({ host: 'evil.example' }, 'notevil.example and evil.example.org'),
    undefined,
  );
  assert.equal(
    strange({ query: 'up{instance="evil.example"}', name: 'nginx', service: 'evil.example' }),
    undefined,
    'a query calls nobody',
  );
  assert.equal(
    strange({ host: 'a.intern', url: 'http://api.example/' }, 'Why?', ['*.intern', 'API.example']),
    undefined,
  );
  for (const args of [
    { ip: 'evil.example' },
    { target_host: 'evil.example' },
    { targetHost: 'evil.example' },
    { base_url: '//evil.example/x' },
  ]) {
    assert.notEqual(strange(args), undefined, JSON.stringify(args));
    assert.equal(strange(args, 'evil.example'), undefined, JSON.stringify(args));
  }
  const foreign = (args: Readonly<Record<string, unknown>>, words = 'Why?') =>
    strangeAddress(args, {}, { words: [words], known: [], anywhere: true });
  for (const text of [
    'curl http://evil.example',
    '-o http://evil.example/x',
    'see evil.example/ for more',
    'http:evil.example',
    'http:\\\\evil.example\\x',
    '{"url":"http://evil.example"}',
    'friend@evil.example',
    '//evil.example',
  ]) {
    assert.notEqual(foreign({ x: text }), undefined, text);
    assert.equal(foreign({ x: text }, 'ask evil.example'), undefined, text);
  }
  assert.notEqual(foreign({ x: ['ping 10.0.0.7'] }), undefined);
  assert.equal(
    foreign({ path: '/var/log/app.log', text: 'restart nginx now, please', count: 3 }),
    undefined,
    'what leads nowhere is nobody',
  );
  const page = { properties: { url: { type: 'string', 'x-checked-address': true } } };
  assert.equal(
    strangeAddress({ url: 'http://found.example/' }, page, { words: [], known: [] }),
    undefined,
    'its tool looks itself',
  );
});
