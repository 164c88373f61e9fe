import type { TestContext } from 'node:test';

import type { Principal } from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions } from 'svc/testing';

// oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the caller's assertion says
export type Json = any;

export interface Asked {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

const authenticator = 'auth.authenticator';

/** Members of organizations, by the name that is their token. */
export const people: Readonly<Record<string, Principal>> = {
  anna: {
    kind: 'user',
    id: '1',
    email: 'anna@example.org',
    role: 'user',
    grants: ['knowledge:*'],
    orgs: [1],
  },
  bert: {
    kind: 'user',
    id: '2',
    email: 'bert@example.org',
    role: 'user',
    grants: ['knowledge:*'],
    orgs: [2],
  },
  tokenOfAnna: {
    kind: 'token',
    id: '11',
    email: 'anna@example.org',
    role: 'user',
    grants: ['read:knowledge'],
    orgs: [1],
  },
  vera: { kind: 'user', id: '3', email: 'vera@example.org', role: 'viewer', grants: [], orgs: [1] },
};

export interface KnowledgeHouse {
  readonly house: TestHost;
  ask(
    method: string,
    path: string,
    options?: {
      readonly as?: string;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
    },
  ): Promise<Asked>;
  add(path: string, content: string, more?: object): Promise<Json>;
  /** Paths that a search finds, in their order. */
  paths(query: string, more?: string, as?: string): Promise<string[]>;
}

/** Starts a host with this plugin alone, where anna, bert and vera are known by name. */
export async function knowledgeHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<KnowledgeHouse> {
  const authenticate = (credential: { readonly value: string }): Principal | undefined =>
    people[credential.value];
  const house = await startTestHost(t, {
    plugins: ['knowledge'],
    ...options,
    services: { [authenticator]: { authenticate }, ...options.services },
  });
  const { state, cause } = house.host.explain('knowledge');
  if (state !== 'active') {
    throw new Error(`the room is ${state}: ${cause}`);
  }
  const ask: KnowledgeHouse['ask'] = async (method, path, { as, body, headers = {} } = {}) => {
    const answer = await house.fetch(`/api/v1/knowledge${path}`, {
      method,
      headers: { ...headers, ...(as !== undefined && { authorization: `Bearer ${as}` }) },
      ...(body !== undefined && {
        body:
          typeof body === 'string' || body instanceof Uint8Array
            ? (body as string)
            : JSON.stringify(body),
      }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: answer.headers,
    };
  };
  const add = async (path: string, content: string, more: object = {}): Promise<Json> => {
    const { status, body } = await ask('POST', '/docs', { body: { path, content, ...more } });
    if (status !== 201) {
      throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`);
    }
    return body;
  };
  const paths = async (query: string, more = '', as?: string): Promise<string[]> => {
    const { status, body } = await ask(
      'GET',
      `/search?q=${encodeURIComponent(query)}${more}`,
      as === undefined ? {} : { as },
    );
    if (status !== 200) {
      throw new Error(`${query} was answered ${status}: ${JSON.stringify(body)}`);
    }
    return [...new Set<string>(body.items.map(({ path: found }: Json) => found))];
  };
  return { house, ask, add, paths };
}
