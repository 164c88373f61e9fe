import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, type TestHost, type TestHostOptions } from 'svc/testing';

const pluginsFolder = fileURLToPath(new URL('../../plugins', import.meta.url));

/** Every area that ships. */
export const shippedPlugins: readonly string[] = readdirSync(pluginsFolder).filter((id) =>
  readdirSync(join(pluginsFolder, id)).includes('plugin.json'),
);

export interface SignedIn {
  readonly id: number;
  readonly email: string;
  readonly access: string;
  readonly refresh: string;
}

export interface Household {
  readonly house: TestHost;
  readonly clock: { ahead: number };
  /** Makes an account and signs it in. */
  person(name: string, role: string): Promise<SignedIn>;
  signIn(email: string): Promise<SignedIn>;
  /** Makes a custom role, or changes what it grants. */
  role(name: string, grants: readonly string[]): Promise<void>;
  /** One request with this bearer token, or none. */
  ask(method: string, path: string, token: string | undefined, body?: unknown): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  readonly body: any;
  readonly text: string;
}

export const password = 'a long enough passphrase';

/** The whole product in a test, with people in it. */
export async function household(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<Household> {
  const clock = { ahead: 0 };
  const house = await startTestHost(t, {
    plugins: shippedPlugins,
    clock: {
      now: () => Date.now() + clock.ahead,
      monotonic: () => performance.now() + clock.ahead,
    },
    environment: { SVC_LOG_LEVEL: 'debug' },
    ...options,
  });
  const ask: Household['ask'] = async (method, path, token, body) => {
    const answer = await fetch(house.url + path, {
      method,
      headers: {
        ...(token !== undefined && {
          authorization: token.includes(' ') ? token : `Bearer ${token}`,
        }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    // A stream goes on for as long as somebody listens; that it began is all there is to know.
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    await (isStream && answer.body?.cancel());
    const text = isStream ? '' : await answer.text();
    const json = text !== '' && answer.headers.get('content-type')?.startsWith('application/json');
    return { status: answer.status, body: json ? JSON.parse(text) : undefined, text };
  };
  const must = async (method: string, path: string, body: unknown): Promise<Answer> => {
    const answer = await ask(method, path, house.token, body);
    if (answer.status >= 300) {
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    }
    return answer;
  };
  const signIn = async (email: string): Promise<SignedIn> => {
    const { body } = await must('POST', '/api/v1/auth/login', { email, password });
    return { id: body.user.id, email, access: body.access_token, refresh: body.refresh_token };
  };
  return {
    house,
    clock,
    ask,
    signIn,
    async person(name, role) {
      const email = `${name}@example.org`;
      await must('POST', '/api/v1/users', { email, display_name: name, role, password });
      return await signIn(email);
    },
    async role(name, grants) {
      const { status } = await ask('GET', `/api/v1/roles/${name}`, house.token);
      await (status === 200
        ? must('PATCH', `/api/v1/roles/${name}`, { grants })
        : must('POST', '/api/v1/roles', { name, description: name, grants }));
    },
  };
}
