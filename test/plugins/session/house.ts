import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, type TestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

import { type MovableClock, movableClock, people, type People, trail } from './people.ts';

export const lampFolder = fileURLToPath(new URL('./lamp', import.meta.url));

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly user: { readonly id: number; readonly email: string };
}

/** A reply of any shape: that it has the expected one is what the assertion says. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface Answer<T = Json> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

export interface SessionHouse {
  readonly house: TestHost;
  readonly clock: MovableClock;
  readonly people: People;
  readonly audit: ReturnType<typeof trail>;
  /** One request; `token` is shown as a bearer. */
  ask<T = Json>(
    method: string,
    path: string,
    options?: { token?: string | undefined; body?: unknown; agent?: string },
  ): Promise<Answer<T>>;
  login(email: string, password?: string, agent?: string): Promise<Answer<Pair>>;
  /** A login that must succeed. */
  signIn(email: string, agent?: string): Promise<Pair>;
  refresh(token: string, agent?: string): Promise<Answer<Pair>>;
  /** Status of a route for every principal. */
  statusOf(token: string): Promise<number>;
}

/**
 * Starts the real plugin in a real host, with stand-ins for the accounts and the trail. Starts with
 * an administrator, a user and a viewer.
 */
export async function sessionHouse(
  t: TestContext,
  {
    empty = false,
    services,
    ...options
  }: Partial<TestHostOptions> & {
    readonly empty?: boolean;
    readonly people?: People;
    readonly clock?: MovableClock;
  } = {},
): Promise<SessionHouse> {
  const clock = options.clock ?? movableClock();
  const accounts = options.people ?? people();
  const audit = trail();
  if (!empty) {
    accounts.add({ email: 'ada@example.org', role: 'admin' });
    accounts.add({ email: 'bob@example.org', role: 'user' });
    accounts.add({ email: 'vera@example.org', role: 'viewer' });
  }
  const house = await startTestHost(t, {
    plugins: ['session', lampFolder],
    services: {
      'iam.directory': accounts.directory,
      'iam.passwords': accounts.passwords,
      'audit.trail': audit,
      ...services,
    },
    ...options,
    clock,
  });
  // A house that is started again shares this process with its successor, whose timers are no leak of its own.
  if (options.dataDir === undefined) {
    useNoLeaks(t, house);
  }

  const ask: SessionHouse['ask'] = async (method, path, { token, body, agent } = {}) => {
    const answer = await fetch(house.url + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(agent !== undefined && { 'user-agent': agent }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: answer.headers,
    };
  };
  const login: SessionHouse['login'] = (email, password = 'correct horse', agent = 'tab') =>
    ask('POST', '/api/v1/auth/login', { body: { email, password }, agent });
  return {
    house,
    clock,
    people: accounts,
    audit,
    ask,
    login,
    async signIn(email, agent) {
      const { status, body } = await login(email, undefined, agent);
      if (status !== 200) {
        throw new Error(`login of ${email} answered ${status}: ${JSON.stringify(body)}`);
      }
      return body;
    },
    refresh: (token, agent = 'tab') =>
      ask('POST', '/api/v1/auth/refresh', { body: { refresh_token: token }, agent }),
    statusOf: async (token) => (await ask('GET', '/api/v1/lamp/look', { token })).status,
  };
}
