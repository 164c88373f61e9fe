import type { TestContext } from 'node:test';

import {
  Directory,
  type DirectoryContract,
  Passwords,
  type PasswordsContract,
  type Person,
} from 'svc/contracts/iam';
import {
  type AuditRecord,
  type AuditTrailContract,
  type Credential,
  type Principal,
  SvcError,
} from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

import { beside } from '../../kit/beside.ts';
import { storedIn } from '../../kit/stored.ts';

/** A reply of any shape: that it has the expected one is what the assertion says. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

/**
 * Requests on behalf of somebody: the operator, or whoever a stand-in for the session plugin
 * admits.
 */
export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export interface IamHouse {
  readonly house: TestHost;
  readonly audit: Trail;
  directory(): DirectoryContract;
  passwords(): PasswordsContract;
  /** Requests as the operator. */
  readonly ask: Ask;
  as(person: { readonly id: number }): Ask;
  /** Requests as an API token of the person, which holds only `grants`. */
  asToken(person: { readonly id: number }, ...grants: readonly string[]): Ask;
  user(name: string, role?: string): Promise<Json>;
  org(name: string, members?: Readonly<Record<number, string>>): Promise<Json>;
  /** Returns the rows of a table, read directly. */
  rows(table: string): Json[];
  sql(text: string, ...parameters: readonly unknown[]): Promise<unknown>;
}

export const password = 'a long enough passphrase';

export interface Trail extends AuditTrailContract {
  readonly rows: AuditRecord[];
  /** Runs before each row is taken. */
  before: () => Promise<void>;
}

/**
 * Starts the real plugin in a real host. A stand-in for the session plugin identifies people by
 * their id alone.
 */
export async function iamHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<IamHouse> {
  const audit: Trail = {
    rows: [],
    before: async () => undefined,
    async append(_tx, record) {
      await audit.before();
      audit.rows.push(record);
    },
  };
  const directory = (): DirectoryContract => house.service(Directory);
  const authenticate = ({ value }: Credential): Principal | undefined => {
    const [kind = '', id, ...grants] = value.split(' ');
    const person = directory().live(Number(id));
    return person && principalOf(person, kind === 'token' ? grants : undefined);
  };
  const house: TestHost = await startTestHost(t, {
    plugins: ['iam'],
    ...options,
    services: { 'auth.authenticator': { authenticate }, 'audit.trail': audit, ...options.services },
  });
  useNoLeaks(t, house);

  const asking =
    (authorization: string): Ask =>
    async (method, path, body, headers = {}) => {
      const answer = await fetch(`${house.url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${authorization}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
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
  const ask = asking(house.token);
  const must = async (method: string, path: string, body: unknown): Promise<Json> => {
    const answer = await ask(method, path, body);
    if (answer.status >= 300) {
      throw new SvcError(
        'internal',
        `${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
      );
    }
    return answer.body;
  };
  const rows = (table: string): Json[] => {
    const database = storedIn(house.dataDir, { readonly: true });
    try {
      return database.prepare(`select * from ${table}`).all() as Json[];
    } finally {
      database.close();
    }
  };
  return {
    house,
    audit,
    directory,
    passwords: () => house.service(Passwords),
    ask,
    as: ({ id }) => asking(`user ${id}`),
    asToken: ({ id }, ...grants) => asking(`token ${id} ${grants.join(' ')}`.trim()),
    user: (name, role = 'user') =>
      must('POST', '/users', { email: `${name}@example.org`, display_name: name, role, password }),
    async org(name, members = {}) {
      const org = await must('POST', '/orgs', { name });
      for (const [id, role] of Object.entries(members)) {
        await must('POST', `/orgs/${org.id}/members`, { user_id: Number(id), role });
      }
      return org;
    },
    rows,
    sql: (text, ...parameters) =>
      beside(house.dataDir, (database) => database.prepare(text).run(...parameters)),
  };
}

export const principalOf = (
  { id, email, display_name: name, role, grants, orgs, selectors }: Person,
  only?: readonly string[],
): Principal => ({
  kind: only ? 'token' : 'user',
  id: String(id),
  email,
  name,
  role,
  grants: only ?? grants,
  ...(orgs && { orgs }),
  ...(selectors && { selectors }),
});

export const idsOf = ({ body }: Answer): readonly number[] =>
  body.items.map((item: Json) => item.id);

/** Returns statuses sorted, for answers to requests that raced. */
export const statusesOf = (answers: readonly Answer[]): readonly number[] =>
  answers.map(({ status }) => status).sort((a, b) => a - b);
