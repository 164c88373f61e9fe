import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';

import { type Json, knowledgeHouse } from './house.ts';

interface FakeModels {
  readonly url: string;
  /** Behaviour on each request; default: with vectors. */
  behave: 'well' | 'fails' | 'lies';
  readonly asked: {
    readonly path: string;
    readonly model: string;
    readonly count: number;
    readonly key: string | undefined;
  }[];
}

const width = 64;
/** Words of one meaning have one place in a vector. */
const meanings: Readonly<Record<string, string>> = {
  feline: 'cat',
  kitten: 'cat',
  automobile: 'car',
  vehicle: 'car',
};

function vectorOf(text: string, model: string): number[] {
  const vector = Array.from({ length: width }, () => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const meaning = meanings[word] ?? word;
    const place =
      Array.from(`${model}${meaning}`).reduce(
        (sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521,
        7,
      ) % width;
    vector[place]! += 1;
  }
  return vector;
}

/** A strict model behind the two protocols. */
async function fakeModels(t: TestContext): Promise<FakeModels> {
  const fake: FakeModels = { url: '', behave: 'well', asked: [] };
  const server = createServer((request, response) => {
    void bodyOf(request).then(({ model, input, encoding_format: format }) => {
      const isOllama = request.url === '/api/embed';
      fake.asked.push({
        path: request.url!,
        model,
        count: input.length,
        key: request.headers.authorization,
      });
      if (fake.behave === 'fails' || !Array.isArray(input) || (!isOllama && format !== 'float')) {
        response.writeHead(503).end('{}');
        return;
      }
      const vectors: number[][] = input
        .slice(fake.behave === 'lies' ? 1 : 0)
        .map((text: string) => vectorOf(text, model));
      const data = vectors.map((embedding, index) => ({ index, embedding })).reverse();
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(isOllama ? { embeddings: vectors } : { data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

describe('vectors', () => {
  test('join words where a model is set, change with it without a gap, and are done without when it is ill', async (t) => {
    const fake = await fakeModels(t);
    const { ask, add, paths, house } = await knowledgeHouse(t, {
      plugins: ['knowledge', 'setting', 'jobs'],
      environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', SVC_HTTP_ADDR: '127.0.0.1:0' },
    });
    const set = async (key: string, value: string): Promise<void> => {
      const answer = await house.fetch(`/api/v1/system-settings/knowledge/${key}`, {
        method: 'PUT',
        body: JSON.stringify({ value }),
      });
      assert.ok(answer.ok, `${key}: ${await answer.text()}`);
    };
    const indexed = async (is: (vectors: Json) => boolean): Promise<Json> => {
      for (;;) {
        const { vectors } = (await ask('GET', '/index')).body;
        if (is(vectors)) {
          return vectors;
        }
      }
    };
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
