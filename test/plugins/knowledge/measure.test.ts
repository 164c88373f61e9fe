import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { type TrialAnswer } from '../../../plugins/knowledge/search/held-out.ts';
import { weightFrom, weights } from '../../../plugins/knowledge/measure/weight.ts';
import { type KnowledgeHouse, knowledgeHouse } from './house.ts';
import { type FakeModels, fakeModels, loopback, setKnowledge, vectorsOnce } from './models.ts';

/** A base whose titles are in other words than its texts, which only a model knows to be the same. */
async function baseOf(
  t: TestContext,
  fake: FakeModels,
  services: Readonly<Record<string, object>> = {},
): Promise<KnowledgeHouse> {
  const room = await knowledgeHouse(t, {
    plugins: ['knowledge', 'setting'],
    environment: loopback,
    services,
  });
  for (let number = 0; number < 16; number++) {
    const letters = String.fromCharCode(97 + number).repeat(3);
    const [named, said] = [`gnu${letters}`, `yak${letters}`];
    fake.meanings[said] = named;
    const body = Array.from(
      { length: 6 },
      (_, line) =>
        `The ${said} of the plain herd went over hill ${letters}${'xyzuvw'[line]} to the river.`,
    ).join('\n\n');
    await room.add(`herds/${number}.md`, body, { title: `A ${named} herd` });
  }
  return room;
}

test('similarity has a say only with a model that finds what this base withholds', async (t) => {
  const fake = await fakeModels(t);
  const room = await baseOf(t, fake);
  const model = async (name: string): Promise<void> => {
    await setKnowledge(room, 'embedding_model', name);
    await setKnowledge(room, 'embedding_url', fake.url);
  };
  await model('noise');
  const noise = await vectorsOnce(room, ({ measure }) => measure !== null);
  assert.deepEqual(
    [noise.weight, noise.measure.used, noise.measure.documents],
    [0, noise.measure.words, 16],
    JSON.stringify(noise),
  );
  assert.ok(noise.measure.questions >= 24);
  const asked = '/search?q=herd%20river%20hill';
  const [byWords, withNoise] = [
    (await room.ask('GET', `${asked}&mode=lexical`)).body,
    (await room.ask('GET', asked)).body,
  ];
  assert.deepEqual(withNoise, byWords, 'noise changes nothing');

  await model('wise');
  const wise = await vectorsOnce(room, (state) => /wise/.test(state.model) && state.measure);
  assert.ok(wise.weight > 0, JSON.stringify(wise));
  assert.ok(wise.measure.used > wise.measure.words);
  const found = (await room.ask('GET', asked)).body;
  assert.equal(found.mode, 'hybrid');
  assert.ok(found.items.every(({ score }: { score: number }) => score >= 0 && score <= 1));

  await room.house.reload('knowledge');
  assert.equal((await vectorsOnce(room, ({ measure }) => measure !== null)).weight, wise.weight);
});

test('neighbours are looked for among the documents that the filter lets pass', async (t) => {
  const fake = await fakeModels(t);
  const room = await knowledgeHouse(t, {
    plugins: ['knowledge', 'setting'],
    environment: loopback,
  });
  for (let number = 0; number < 82; number++) {
    await room.add(`near/${number}.md`, `feline ${number}`);
  }
  await room.add('far/one.md', 'the vehicle of a feline');
  await setKnowledge(room, 'embedding_model', 'wise');
  await setKnowledge(room, 'embedding_url', fake.url);
  await vectorsOnce(room, ({ model }) => model !== null);
  assert.deepEqual(await room.paths('kitten', '&mode=vector&path_prefix=far'), ['far/one.md']);
});

test('a weight needs more than chance, in both halves of the questions', () => {
  const placed = (place: number) => ({ place, worth: 1 / place });
  const words = weights.map(() => placed(4));
  const better = weights.map((_, at) => placed(at === 0 ? 4 : 1));
  const worse = weights.map((_, at) => placed(at === 0 ? 1 : 4));
  const of = (count: (index: number) => TrialAnswer): number =>
    weightFrom(Array.from({ length: 60 }, (_, index) => count(index)));
  assert.equal(
    of(() => words),
    0,
  );
  assert.equal(
    of((index) => (index < 20 ? better : words)),
    weights[1],
    'the smallest that helps',
  );
  assert.equal(
    of((index) => (index % 2 === 0 ? better : worse)),
    0,
  );
  assert.equal(
    of((index) => ((index >> 1) % 2 === 0 ? better : worse)),
    0,
    'one half gains, the other loses',
  );
  assert.equal(weightFrom(Array.from({ length: 10 }, () => better)), 0, 'too few to tell');
});

/** Numbers of the listed documents of a question, those with a text first. */
function numbersOf(text: string, wanted: string): readonly number[] {
  const docs = text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { number: number; text: string });
  return [
    ...docs.filter((doc) => doc.text.includes(wanted)),
    ...docs.filter((doc) => !doc.text.includes(wanted)),
  ].map(({ number }) => number);
}

test('a chat model reorders the first results once it was measured to help, and is done without when it fails', async (t) => {
  const asked: { text: string; model: string }[] = [];
  let answer = '';
  const models = {
    usable: () => ({ ok: true }),
    async *stream({ messages, model }: { messages: { text: string }[]; model: string }) {
      const { text } = messages.at(-1)!;
      asked.push({ text, model });
      if (answer === 'fail') {
        throw new Error('the model is down');
      }
      const [, letters] = /gnu(\w{3})/.exec(text) ?? [];
      const numbers = numbersOf(text, letters === undefined ? 'yak' : `yak${letters}`);
      const best = model.endsWith('wise') ? numbers.slice(0, 3) : numbers.toReversed().slice(0, 3);
      yield { type: 'text', delta: answer || JSON.stringify({ best }) };
    },
  };
  const fake = await fakeModels(t);
  const room = await baseOf(t, fake, { 'model.stream': models });
  const measured = async (name: string) => {
    await setKnowledge(room, 'rerank_model', name);
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(50)) {
      const { rerank } = (await room.ask('GET', '/index')).body;
      if (rerank?.model === name && rerank.measure !== null) {
        return rerank;
      }
    }
    return assert.fail(`${name} is not measured in time`);
  };
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await room.add(`okapi/${name}.md`, `# Okapi ${name}\nThe okapi of ${name}.`);
  }
  const order = async (more = ''): Promise<[string, boolean]> => {
    const { body } = await room.ask('GET', `/search?q=okapi${more}`);
    return [body.items.map(({ title }: { title: string }) => title.at(-1)).join(''), body.reranked];
  };
  assert.deepEqual(await order(), ['abcdef', false]);
  assert.equal(asked.length, 0, 'no model is set');
  const poor = await measured('openai/poor');
  assert.equal(poor.used, false, JSON.stringify(poor));
  assert.ok(poor.measure.questions >= 24 && asked.length >= 12 && asked.length <= 60);
  assert.ok(poor.measure.after <= poor.measure.before);
  const paid = asked.length;
  assert.deepEqual(
    await order(),
    ['abcdef', false],
    'a model without a measured gain reorders nothing',
  );
  assert.equal(asked.length, paid);

  const wise = await measured('openai/wise');
  assert.equal(wise.used, true, JSON.stringify(wise));
  assert.ok(wise.measure.after > wise.measure.before);
  const first = asked.length;
  answer = '{"best":[5,4,6]}';
  assert.deepEqual(await order(), ['edabcf', true], 'the first stays among the first three');
  assert.deepEqual(await order('&limit=2'), ['ed', true], 'it chooses among more than are shown');
  assert.match(asked[first]!.text, /^Question: "okapi"\n\n\{"number":1,"title":"Okapi a"/);
  assert.equal(asked[first]!.model, 'openai/wise');
  for (const odd of ['{"best":[99,"1",-1]}', 'no JSON', '{"best":[]}', '{"best":{}}']) {
    answer = odd;
    assert.deepEqual(await order(), ['abcdef', false], odd);
  }
  const before = asked.length;
  assert.deepEqual(await order('&rerank=false'), ['abcdef', false]);
  assert.deepEqual(await order('&mode=lexical'), ['abcdef', false]);
  answer = 'fail';
  assert.deepEqual(await order(), ['abcdef', false]);
  assert.deepEqual(await order(), ['abcdef', false]);
  assert.equal(asked.length, before + 1, 'a model that failed rests');
});
