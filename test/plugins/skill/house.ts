import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { type AuditRecord, Authenticator, type Principal } from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions } from 'svc/testing';

export const tools = fileURLToPath(new URL('../../fixtures/plugins/tools', import.meta.url));

export interface Somebody {
  readonly id: number;
  role: string;
  status: string;
  grants: readonly string[];
  selectors?: readonly string[];
}

const user = ['device:*', 'skill:*'];

/** People as they are at first; their names are their bearer tokens. */
export const staff = () => ({
  anna: { id: 3, role: 'user', status: 'active', grants: user } as Somebody,
  bob: { id: 4, role: 'admin', status: 'active', grants: ['*'] } as Somebody,
  carl: { id: 5, role: 'lead', status: 'active', grants: ['approval:*'] } as Somebody,
  vera: { id: 6, role: 'viewer', status: 'active', grants: [] } as Somebody,
});

export type Staff = ReturnType<typeof staff>;
export type Name = keyof Staff;

export interface SkillHouse {
  readonly house: TestHost;
  readonly people: Staff;
  readonly rows: AuditRecord[];
  readonly done: { readonly tool: string; readonly params: unknown }[];
  /** Effect of the sample tools. */
  effect: (tool: string, params: unknown, signal: AbortSignal) => unknown;
  ask(
    who: Name | `token of ${Name}` | 'operator',
    method: string,
    path: string,
    body?: unknown,
    // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  ): Promise<{ readonly status: number; readonly body: any }>;
  principal(who: Name): Principal;
  allowWrites(on?: boolean): Promise<void>;
}

/**
 * Starts the real gate and skill plugins with people, a trail and tools that a test can inspect.
 */
export async function skillHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<SkillHouse> {
  const people = staff();
  const principal = (name: Name): Principal => {
    const { id, role, grants, selectors } = people[name];
    return { kind: 'user', id: String(id), name, role, grants, ...(selectors && { selectors }) };
  };
  const authenticate = ({ value }: { value: string }): Principal | undefined => {
    const [, isToken, name] = /^(token-)?(\w+)$/.exec(value) ?? [];
    if (name === undefined || !Object.hasOwn(people, name)) {
      return undefined;
    }
    const person = principal(name as Name);
    return isToken === undefined
      ? person
      : { ...person, kind: 'token', grants: [...person.grants, 'read:*'] };
  };
  const rows: AuditRecord[] = [];
  const kit: { effect: SkillHouse['effect']; done: SkillHouse['done'] } = {
    effect: () => ({ done: true }),
    done: [],
  };
  const house = await startTestHost(t, {
    plugins: ['gate', 'skill', 'setting', tools],
    ...options,
    services: {
      [Authenticator.id]: { authenticate },
      'iam.directory': {
        live: (id: number) =>
          Object.values(people).find((one) => one.id === id && one.status === 'active'),
      },
      'audit.trail': {
        append: async (_tx: unknown, record: AuditRecord) => void rows.push(record),
      },
      'tools.effects': {
        apply: async (tool: string, params: unknown, signal: AbortSignal) => {
          kit.done.push({ tool, params });
          return await kit.effect(tool, params, signal);
        },
      },
      ...options.services,
    },
  });
  const ask: SkillHouse['ask'] = async (who, method, path, body) => {
    const bearer = who === 'operator' ? house.token : who.replace('token of ', 'token-');
    const answer = await house.fetch(`/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const allowWrites = async (on = true): Promise<void> => {
    await house.json('/api/v1/system-settings/agent/write_enabled', {
      method: 'PUT',
      body: JSON.stringify({ value: on }),
    });
  };
  return Object.assign(kit, { house, people, rows, ask, principal, allowWrites });
}
