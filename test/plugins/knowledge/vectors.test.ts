import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type Json, knowledgeHouse } from './house.ts';
import { fakeModels, loopback, setKnowledge, vectorsOnce } from './models.ts';

describe('vectors', () => {
  test('join words where a model is set, change with it without a gap, and are done without when it is ill', async (t) => {
    const fake = await fakeModels(t);
    const room = await knowledgeHouse(t, {
      plugins: ['knowledge', 'setting', 'jobs'],
      environment: loopback,
    });
    const { ask, add, paths, house } = room;
    const set = (key: string, value: string): Promise<void> => setKnowledge(room, key, value);
    const indexed = (is: (vectors: Json) => boolean): Promise<Json> => vectorsOnce(room, is);
    await add('pets.md', '# Pets\nA kitten sleeps.');
    await add('cars.md', '# Cars\nAn automobile drives.');
    assert.equal((await ask('GET', '/search?q=feline')).body.mode, 'lexical');
    assert.equal((await ask('GET', '/search?q=feline&mode=vector')).status, 409);

    await set('embedding_url', fake.url);
    await set('embedding_key', 'sk-secret');
    await set('embedding_model', 'small');
    await indexed(({ model }) => model?.startsWith('openai small'));
    const found = await ask('GET', '/search?q=feline');
    assert.deepEqual([found.body.mode, found.body.items[0].path], ['hybrid', 'pets.md']);
    assert.deepEqual(
      (await ask('GET', '/search?q=vehicle&mode=vector')).body.items[0].path,
      'cars.md',
    );
    assert.ok(
      fake.asked.every(({ path, key }) => path === '/embeddings' && key === 'Bearer sk-secret'),
    );

    await add('more.md', '# More\nThe vehicle of a kitten.');
    await indexed(({ embedded }) => embedded >= 3);
    assert.ok((await paths('feline', '&mode=vector')).includes('more.md'));

    fake.behave = 'lies';
    await set('embedding_model', 'large');
    await indexed(({ last_error: error }) => /vectors for/.test(error ?? ''));
    const { items } = await house.json<{
      items: { title: string; state: string; error: string }[];
    }>('/api/v1/jobs');
    assert.deepEqual(
      items.map(({ title, state }) => `${title}: ${state}`),
      ['Embed documents: waiting'],
    );
    assert.match(items[0]!.error, /vectors for/);
    fake.behave = 'well';
    assert.deepEqual(
      [(await ask('GET', '/search?q=feline')).body.mode, fake.asked.at(-1)!.model],
      ['hybrid', 'small'],
      'the model before serves on',
    );
    await set('embedding_provider', 'ollama');
    const after = await indexed(({ model }) => model?.startsWith('ollama large'));
    assert.equal(after.last_error, null);
    assert.deepEqual(
      [(await paths('feline', '&mode=vector'))[0], fake.asked.at(-1)!.path],
      ['pets.md', '/api/embed'],
    );

    await ask('POST', '/index/rebuild');
    const asked = fake.asked.length;
    let state: Json;
    do {
      state = (await ask('GET', '/index')).body;
    } while (state.state !== 'ready');
    assert.equal((await ask('GET', '/search?q=feline&mode=vector')).body.mode, 'vector');
    assert.ok(
      fake.asked.slice(asked).every(({ count }) => count === 1),
      'vectors move into an index that is made anew',
    );

    fake.behave = 'fails';
    const ill = await ask('GET', '/search?q=kitten');
    assert.deepEqual([ill.status, ill.body.mode], [200, 'lexical']);
    await set('embedding_model', '');
    await indexed(({ model }) => model === null);
    assert.equal((await ask('GET', '/search?q=kitten')).body.mode, 'lexical');
  });
});
