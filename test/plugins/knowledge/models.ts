import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

import type { Json, KnowledgeHouse } from './house.ts';

export interface FakeModels {
  readonly url: string;
  /** Words of one meaning have one place in a vector. */
  readonly meanings: Record<string, string>;
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
function vectorOf(text: string, model: string, meanings: FakeModels['meanings']): number[] {
  const vector = Array.from({ length: width }, () => 0);
  if (model === 'noise') {
    const digest = createHash('sha256').update(text).digest();
    return vector.map((_, at) => digest[at % digest.length]! - 128);
  }
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
export async function fakeModels(t: TestContext): Promise<FakeModels> {
  const meanings: FakeModels['meanings'] = {
    feline: 'cat',
    kitten: 'cat',
    automobile: 'car',
    vehicle: 'car',
  };
  const fake: FakeModels = { url: '', meanings, behave: 'well', asked: [] };
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
        .map((text: string) => vectorOf(text, model, meanings));
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

/** Environment in which a model on the loopback may be asked. */
export const loopback = {
  SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
  SVC_HTTP_ADDR: '127.0.0.1:0',
};

/** Sets one of the settings `knowledge.*`. */
export async function setKnowledge(
  { house }: KnowledgeHouse,
  key: string,
  value: string,
): Promise<void> {
  const answer = await house.fetch(`/api/v1/system-settings/knowledge/${key}`, {
    method: 'PUT',
    body: JSON.stringify({ value }),
  });
  if (!answer.ok) {
    throw new Error(`${key}: ${await answer.text()}`);
  }
}

/** Waits until the index says so of its vectors. */
export async function vectorsOnce(
  { ask }: KnowledgeHouse,
  is: (vectors: Json) => boolean,
): Promise<Json> {
  for (;;) {
    const { vectors } = (await ask('GET', '/index')).body;
    if (is(vectors)) {
      return vectors;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
