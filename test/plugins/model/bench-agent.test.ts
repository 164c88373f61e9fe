import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { askEmptySvc } from '../../../bin/serve/small-svc.ts';
import { benched } from '../../../plugins/model/cli/bench/bench.ts';
import { type Case, casesOf } from '../../../plugins/model/cli/bench/case.ts';
import { type Answered, isSaid, verdictOf } from '../../../plugins/model/cli/bench/rubric.ts';
import {
  offeredTools,
  shippedCases,
  shippedWorlds,
} from '../../../plugins/model/cli/bench/shipped.ts';
import type { Column } from '../../../plugins/model/cli/bench/table.ts';
import { offsetOf, timesOf } from '../../../plugins/model/cli/bench/world.ts';
import { run } from '../../drill/bench-agent.ts';
import { onlyInDrills } from '../../drill/rounds.ts';

const handful = [
  'inc-billing',
  'met-busiest',
  'log-vouchers',
  'trace-partner',
  'host-php',
  'k8s-crash',
  'doc-extension',
  'act-restart-approved',
  'act-restart-denied',
  'inj-log-delete',
  'unk-owner',
];
const cases = handful.map((id) => shippedCases.find((one) => one.id === id)!);
const shell = { askEmpty: askEmptySvc };
const options = { worlds: shippedWorlds, environment: {}, each: () => undefined };

const answered = (more: Partial<Answered>): Answered => ({
  text: '',
  finish: 'stop',
  agent: 'sre',
  calls: [],
  executed: [],
  turns: 1,
  inputTokens: 10,
  cachedTokens: 0,
  outputTokens: 5,
  seconds: 1,
  ...more,
});

const failures = ({ outcomes }: Column): object[] =>
  outcomes
    .filter(({ passed }) => !passed)
    .map(({ id, missing, wrong, answered: { text } }) => ({ id, missing, wrong, text }));

test('at least 150 cases ship, each another question in a world and with tools that exist', () => {
  assert.ok(shippedCases.length >= 150, String(shippedCases.length));
  const distinct = (of: (one: Case) => string): number => new Set(shippedCases.map(of)).size;
  assert.equal(
    distinct(({ id }) => id),
    shippedCases.length,
  );
  assert.equal(
    distinct(({ question }) => question.replaceAll(/\d+/g, '0')),
    shippedCases.length,
  );
  const worlds = new Map(shippedWorlds.map((world) => [world.name, world]));
  const tools = new Set(offeredTools.map(({ name }) => name));
  for (const { id, world, incident, answers = [], never = [], change } of shippedCases) {
    const found = worlds.get(world);
    assert.ok(found !== undefined, id);
    assert.ok(
      incident === undefined || found.rules?.some(({ key }) => key === incident),
      `${id}: ${incident}`,
    );
    const named = [...answers.map(({ tool }) => tool), ...never, ...(change ? [change.tool] : [])];
    assert.deepEqual(
      named.filter((tool) => !tools.has(tool)),
      [],
      id,
    );
  }
});

test('a rubric takes words, alternatives and numbers within a tolerance', () => {
  assert.ok(isSaid('out of inodes?', 'mail-1 is OUT OF INODE entries'));
  assert.ok(isSaid({ any: ['gc', 'garbage'] }, 'long garbage collection'));
  assert.ok(isSaid({ number: 41_200, within: 0 }, 'to 41,200 people'));
  assert.ok(isSaid({ number: 75, within: 3, unit: ' ?%' }, 'about 74.2 % fail'));
  assert.ok(!isSaid({ number: 75, within: 3, unit: ' ?%' }, '75 requests'));
  assert.ok(!isSaid({ number: 8, within: 0.8 }, 'in 80 hours'));
});

test('a case fails for what is missing, what must not be said, what ran, and what it cost', () => {
  const asked: Case = {
    id: 'x',
    subject: 'hosts',
    world: 'hosts',
    question: '?',
    must: ['nginx'],
    must_not: ['reboot it'],
    never: ['service_restart'],
    budget: { calls: 1, tokens: 20 },
  };
  assert.ok(verdictOf(asked, answered({ text: 'nginx' })).passed);
  assert.deepEqual(verdictOf(asked, answered({ text: 'apache' })).missing, ['nginx']);
  const call = { name: 'processes', status: 'ok' };
  assert.deepEqual(
    verdictOf(
      asked,
      answered({
        text: 'nginx; reboot it',
        executed: ['service_restart'],
        calls: [call, call],
        outputTokens: 50,
      }),
    ).wrong,
    ['says "reboot it"', 'executed service_restart', '2 calls of 1', '60 tokens of 20'],
  );
  const unknown: Case = { ...asked, must: [], unknown: true };
  assert.ok(verdictOf(unknown, answered({ text: 'I do not know: nothing says who' })).passed);
  assert.ok(!verdictOf(unknown, answered({ text: 'It was Marco.' })).passed);
});

test('a file with a field that no case has is refused, with its place', () => {
  const asked = { id: 'x', subject: 's', world: 'w', question: '?', must: ['a'] };
  assert.equal(casesOf([asked], 'own.yaml').length, 1);
  assert.throws(() => casesOf([{ ...asked, mustnt: [] }], 'own.yaml'), /case 1 has the unknown/);
  assert.throws(() => casesOf([{ ...asked, must: [] }], 'own.yaml'), /nothing to check/);
  assert.deepEqual([offsetOf('-12m'), timesOf('-2m..-1m/30s').length], [-720_000, 3]);
});

test(
  'the handful passes with a model that reads the key, also from a recording; a changed tool shows in it',
  { timeout: 400_000 },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'run.jsonl');
    const [engine, scripted] = await benched(shell, {
      ...options,
      cases,
      models: ['engine', 'scripted'],
      record: file,
    });
    assert.deepEqual(failures(scripted!), []);
    assert.ok(scripted!.calls >= 12 && scripted!.input_tokens > 0, JSON.stringify(scripted));
    // Without a model nothing is asked of tools, and most questions have no answer.
    assert.ok(engine!.passed < cases.length / 2, String(engine!.passed));

    const changed = cases
      .filter(({ id }) => id === 'host-php' || id === 'k8s-crash')
      .map((one) =>
        one.id === 'host-php'
          ? { ...one, answers: [{ tool: 'journal', answer: ['nothing of the kind'] }] }
          : one,
      );
    const [replayed] = await benched(shell, {
      ...options,
      cases: changed,
      models: ['replayed'],
      replay: file,
    });
    assert.deepEqual(
      replayed!.outcomes.map(({ id, passed, changed: parts }) => ({ id, passed, parts })),
      [
        // The reply is the recorded one, so it says what the tool no longer does.
        { id: 'host-php', passed: true, parts: ['messages'] },
        { id: 'k8s-crash', passed: true, parts: [] },
      ],
    );
  },
);

test('the facts of all cases can be reached', { ...onlyInDrills, timeout: 900_000 }, async () => {
  const { ok, ...found } = await run();
  assert.ok(ok, JSON.stringify(found));
});
