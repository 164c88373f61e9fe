import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { AuditRecord, Credential, Principal } from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

export const torchFolder = fileURLToPath(new URL('./torch', import.meta.url));
export const mask = '••••';

/** A reply of any shape: that it has the expected one is what the assertion says. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

export interface SettingHouse {
  readonly house: TestHost;
  readonly audit: readonly AuditRecord[];
  /** One request as ada, unless `as` names somebody else. */
  ask(
    method: string,
    path: string,
    options?: { as?: keyof typeof people; body?: unknown; ifMatch?: string },
  ): Promise<Answer>;
  set(name: string, value: unknown, ifMatch?: string): Promise<Answer>;
  item(name: string, as?: keyof typeof people): Promise<Json>;
  /** Returns everything that left svc in replies, log lines and audit rows. */
  everythingSaid(): string;
}

const person = (id: string, role: string, grants: readonly string[]): Principal => ({
  kind: 'user',
  id,
  email: `${id}@example.org`,
  role,
  grants,
});

export const people = {
  ada: person('ada', 'admin', ['*']),
  eve: person('eve', 'admin', ['*']),
  /** An administrator who signed in a while ago. */
  old: person('old', 'admin', ['*']),
  /** A script that may do whatever an administrator may. */
  bot: { ...person('bot', 'admin', ['*']), kind: 'token' },
  bob: person('bob', 'user', ['write', 'edge:create']),
  vera: person('vera', 'viewer', []),
} as const satisfies Record<string, Principal>;

const signedInMsAgo: Readonly<Record<string, number>> = { old: 5 * 60_000 + 1_000 };

export const addressOf = (name: string): string =>
  `/api/v1/system-settings/${name.replace('.', '/')}`;

/**
 * Starts the real plugin in a real host with a plugin that watches its settings; stand-ins for
 * accounts and trail.
 */
export async function settingHouse(
  t: TestContext,
  options: Partial<TestHostOptions> = {},
): Promise<SettingHouse> {
  const audit: AuditRecord[] = [];
  const said: string[] = [];
  const authenticate = ({ value }: Credential): Principal | undefined => {
    const known = people[value as keyof typeof people];
    return known?.kind === 'user'
      ? { ...known, authenticatedAt: (options.clock ?? Date).now() - (signedInMsAgo[value] ?? 0) }
      : known;
  };
  const house = await startTestHost(t, {
    plugins: ['setting', torchFolder],
    ...options,
    services: {
      'auth.authenticator': { authenticate },
      'audit.trail': {
        append: async (_tx: unknown, record: AuditRecord) => void audit.push(record),
      },
      ...options.services,
    },
  });
  useNoLeaks(t, house);

  const ask: SettingHouse['ask'] = async (method, path, { as = 'ada', body, ifMatch } = {}) => {
    const answer = await house.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${as}`,
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!path.endsWith('/reveal')) {
      said.push(text);
    }
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };

  return {
    house,
    audit,
    ask,
    set: (name, value, ifMatch) =>
      ask('PUT', addressOf(name), { body: { value }, ...(ifMatch !== undefined && { ifMatch }) }),
    async item(name, as = 'ada') {
      const { body } = await ask('GET', '/api/v1/system-settings?limit=200', { as });
      return (body.items as Json[]).find(({ category, key }) => `${category}.${key}` === name);
    },
    everythingSaid: () => [...said, ...house.lines, JSON.stringify(audit)].join('\n'),
  };
}
