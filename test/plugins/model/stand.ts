import type { TestContext } from 'node:test';

import {
  type ModelMessage,
  type ModelPart,
  type ModelRequest,
  ModelRuns,
} from 'svc/contracts/model';
import type { Clock } from 'svc/sdk';
import { startTestHost, type TestHost } from 'svc/testing';

import {
  FakeModel,
  type FakeModelOptions,
} from '../../../plugins/model/cli/fake-model/fake-model.ts';

export interface Stand {
  readonly house: TestHost;
  readonly fake: FakeModel;
  /** Every part of one call. */
  ask(request?: Partial<ModelRequest>): Promise<ModelPart[]>;
}

/** Starts a host whose only model is a scripted one. */
export async function modelStand(
  t: TestContext,
  options: FakeModelOptions = {},
  environment: Readonly<Record<string, string>> = {},
  clock?: Clock,
): Promise<Stand> {
  const fake = await FakeModel.start(options);
  t.after(() => fake.close());
  const house = await startTestHost(t, {
    plugins: ['model'],
    ...(clock && { clock }),
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
      ...environment,
    },
  });
  return {
    house,
    fake,
    ask: (request) => gathered(house.service(ModelRuns).stream(requestOf(request))),
  };
}

export const user = (text: string): ModelMessage => ({ role: 'user', text });

export const requestOf = (request: Partial<ModelRequest> = {}): ModelRequest => ({
  model: '',
  messages: [user('hello')],
  tools: [],
  maxTokens: 1_000,
  signal: new AbortController().signal,
  budget: { run: 'r1', session: 's1', persona: 'operator-guide' },
  ...request,
});

export const textOf = (parts: readonly ModelPart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.delta : '')).join('');

export function endOf(parts: readonly ModelPart[]): Extract<ModelPart, { type: 'end' }> {
  const last = parts.at(-1);
  if (last?.type !== 'end') {
    throw new Error(`the last part is ${last?.type}, and no end`);
  }
  return last;
}

async function gathered(parts: AsyncIterable<ModelPart>): Promise<ModelPart[]> {
  const all: ModelPart[] = [];
  for await (const part of parts) {
    all.push(part);
  }
  return all;
}
