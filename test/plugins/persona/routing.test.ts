import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { readPersona } from 'svc/markdown-file';

import { isRouted } from '../../../plugins/persona/by-name.ts';
import playbooks from '../../../plugins/persona/routing/playbooks.json' with { type: 'json' };
import { Router } from '../../../plugins/persona/routing/router.ts';
import { claims, Trade } from '../../../plugins/persona/routing/trade.ts';
import { stemsOf, wordsIn } from '../../../plugins/persona/routing/words.ts';
import { type Asked, fitting, proof } from './asked/asked.ts';
import { questions } from './questions.ts';

const folder = fileURLToPath(new URL('../../../agents/', import.meta.url));
const shipped = readdirSync(folder)
  .map((file) => readPersona(readFileSync(folder + file, 'utf8'), { file }))
  .filter(isRouted);
const asked: readonly Asked[] = Object.entries(questions).flatMap(([persona, texts]) =>
  texts.map((text) => ({ right: [persona], text })),
);

/** Returns who answers: the one that stands out, else the coordinator. */
function answering(router: Router, text: string): string {
  const { clear, candidates } = router.rank(text);
  return clear ? candidates[0]!.name : 'coordinator';
}

interface Outcome {
  /** Share that was routed to an agent that is right to answer. */
  readonly right: number;
  /** Share of the clear ones that went to a wrong agent. */
  readonly misled: number;
  readonly wrong: readonly string[];
}

function outcome(router: Router, set: readonly Asked[]): Outcome {
  const clear = set.filter(({ text }) => router.rank(text).clear);
  const isWrong = ({ right, text }: Asked): boolean => !right.includes(answering(router, text));
  return {
    right: set.filter((each) => !isWrong(each)).length / set.length,
    misled: clear.filter(isWrong).length / clear.length,
    wrong: set
      .filter(isWrong)
      .map(({ text, right }) => `${text} → ${answering(router, text)} (${right.join(' or ')})`),
  };
}

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

for (const [name, set, right, misled] of [
  ['170 questions written beside the personas', asked, 0.95, 0.03],
  ['150 questions that the routing was fitted to', fitting, 0.88, 0.06],
  ['150 questions that it was not fitted to', proof, 0.88, 0.08],
] as const) {
  test(`${name} find their persona without a model`, (t) => {
    const found = outcome(new Router(shipped), set);
    t.diagnostic(`${percent(found.right)} right, ${percent(found.misled)} wrong while clear`);
    assert.equal(set.length, Number(name.slice(0, 3)));
    assert.ok(found.right >= right && found.misled <= misled, found.wrong.join('\n'));
  });
}

test('every shipped persona is found by its own questions', () => {
  assert.deepEqual(shipped.map(({ name }) => name).toSorted(), Object.keys(questions).toSorted());
  const router = new Router(shipped);
  for (const [persona, texts] of Object.entries(questions)) {
    const found = texts.filter((text) => answering(router, text) === persona);
    assert.ok(found.length >= 7, `${persona}: ${found.length} of 10`);
  }
});

test('every subject of the trade is claimed by a shipped persona, and by half of them at most', () => {
  for (const subject of new Trade().subjects) {
    const claiming = shipped.filter(({ when_to_use: when }) => claims(subject, wordsIn(when)));
    assert.ok(claiming.length >= 1 && claiming.length <= 6, subject.about);
  }
});

test('a persona that is dropped in wins its own questions and takes none of the others', () => {
  const printers = {
    name: 'printer-nurse',
    description: 'Looks after printers.',
    when_to_use:
      'Printers: toner, paper jam, print queue, spooler, CUPS, a page that does not come out.',
  };
  const before = outcome(new Router(shipped), asked).wrong;
  const router = new Router([...shipped, printers]);
  for (const text of [
    'the printer on floor 3 has a paper jam',
    'toner is low on prn-2',
    'CUPS spooler is stuck',
    'nothing comes out of the print queue',
  ]) {
    assert.equal(answering(router, text), 'printer-nurse', text);
  }
  assert.ok(outcome(router, asked).wrong.length <= before.length + 1);
});

test('a persona in other words than those of the question is found by the subject that both mean', () => {
  const router = new Router([
    { name: 'keeper', description: 'Keeps.', when_to_use: 'Swapping and out of memory.' },
    { name: 'finder', description: 'Finds.', when_to_use: 'DNS and resolvers.' },
  ]);
  assert.equal(answering(router, 'kswapd0 at 100, oomkilled twice'), 'keeper');
  assert.equal(answering(router, 'getaddrinfo ENOTFOUND'), 'finder');
});

test('a persona without the tool that a subject needs does not get its questions', () => {
  const persona = { description: 'Quiet.', when_to_use: 'Silence or mute alerts.' };
  const router = new Router([
    { ...persona, name: 'deaf', tools: ['metrics_query'] },
    { ...persona, name: 'able', tools: ['silence_create'] },
  ]);
  assert.equal(answering(router, 'snooze it until monday'), 'able');
});

test('the name of a host hints at a subject, and what is said about it counts more', () => {
  const router = new Router(shipped);
  assert.equal(answering(router, 'db-3 is swapping'), 'compute');
  assert.equal(answering(router, 'redis-2 has no space left'), 'disk');
  const unknown = 'orders-store looks odd';
  assert.notEqual(answering(router, unknown), 'database');
  assert.equal(router.rank(unknown, ['database']).candidates[0]?.name, 'database');
});

test('a word written as two, joined or inside another one is the same subject', () => {
  const router = new Router(shipped);
  assert.equal(answering(router, 'ssh bruteforce on the bastion'), 'security-reviewer');
  assert.equal(answering(router, 'ksoftirqd0 busy'), 'compute');
  assert.equal(answering(router, 'ContainerOutOfMemory'), 'compute');
  assert.deepEqual(
    new Trade()
      .mentionedIn('logrotated', wordsIn('logrotated'))
      .mentioned.map(({ subject }) => subject.about),
    ['log files on a disk'],
  );
});

test('the names of troubles that routing learns from playbooks are those of the playbooks', () => {
  const vault = fileURLToPath(new URL('../../../vault/', import.meta.url));
  const text = readdirSync(vault, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => readFileSync(vault + file, 'utf8').replaceAll(/\s+/g, ' '))
    .join('\n');
  const names = Object.values(playbooks).flat();
  const strays = names.filter((name) => !text.includes(name));
  // A playbook may be reworded; most of its words are those of the trade all the same.
  assert.ok(strays.length < names.length / 10, strays.join('\n'));
  assert.ok(Object.keys(playbooks).every((name) => shipped.some((one) => one.name === name)));
});

test('words of one family meet, and those of any question say nothing', () => {
  assert.equal(
    new Set(['restart', 'restarts', 'restarted', 'restarting'].flatMap(stemsOf)).size,
    1,
  );
  assert.equal(new Set(['query', 'queries'].flatMap(stemsOf)).size, 1);
  assert.equal(new Set(['swap', 'swapping'].flatMap(stemsOf)).size, 1);
  assert.deepEqual(stemsOf('What is the one that we have? Who called it?'), []);
  assert.deepEqual(new Router(shipped).rank('what is it?').candidates, []);
});
