import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { type LabelRecord, MetricsIngest } from 'svc/contracts/metricsdb';
import type { AuditRecord, Credential, Principal } from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

export const gardenFolder = fileURLToPath(new URL('./garden', import.meta.url));

/** A reply of any shape: that it has the expected one is what the assertion says. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

const person = (id: number, name: string, grants: readonly string[]): Principal => ({
  kind: 'user',
  id: String(id),
  email: `${name}@example.org`,
  role: name,
  grants,
});

export const people = {
  ada: person(1, 'ada', ['*']),
  /** Person who may change panels. */
  mo: person(2, 'mo', ['monitor:*']),
  vera: person(3, 'vera', []),
} as const;

/** Accounts as they are now: those of `people`. */
const accounts = {
  live(id: number) {
    const found = Object.values(people).find((one) => one.id === String(id));
    return found && { ...found, id, status: 'active', selectors: undefined };
  },
};

export interface MonitorHouse {
  readonly house: TestHost;
  readonly audit: readonly AuditRecord[];
  /** One request as ada, unless `as` names somebody else. */
  ask(
    method: string,
    path: string,
    options?: { as?: keyof typeof people; body?: unknown; ifMatch?: string },
  ): Promise<Answer>;
  /** A dashboard that must be there. */
  show(uid: string, query?: string): Promise<Json>;
  /** One panel of it, by title. */
  panel(uid: string, title: string, query?: string): Promise<Json>;
}

/** Starts the real plugin in a real host, with stand-ins for accounts and trail. */
export async function monitorHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<MonitorHouse> {
  const audit: AuditRecord[] = [];
  const house = await startTestHost(t, {
    plugins: ['monitor'],
    ...options,
    services: {
      'auth.authenticator': {
        authenticate: ({ value }: Credential) => people[value as keyof typeof people],
      },
      'audit.trail': {
        append: async (_tx: unknown, record: AuditRecord) => void audit.push(record),
      },
      'iam.directory': accounts,
      ...options.services,
    },
  });
  useNoLeaks(t, house);

  const ask: MonitorHouse['ask'] = async (method, path, { as = 'ada', body, ifMatch } = {}) => {
    const answer = await house.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${as}`,
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const show: MonitorHouse['show'] = async (uid, query = '') => {
    const { status, body } = await ask('GET', `/api/v1/observability/dashboards/${uid}${query}`);
    if (status !== 200) {
      throw new Error(`${uid} answered ${status}: ${JSON.stringify(body)}`);
    }
    return body;
  };

  return {
    house,
    audit,
    ask,
    show,
    async panel(uid, title, query) {
      const found = (await show(uid, query)).panels.filter((panel: Json) => panel.title === title);
      if (found.length !== 1) {
        throw new Error(`${uid} has ${found.length} panels with the title ${title}`);
      }
      return found[0];
    },
  };
}

/** Stores one value every 15 s over the `minutes` before `end`. */
export async function store(
  house: TestHost,
  series: readonly (readonly [labels: LabelRecord, value: number | ((index: number) => number)])[],
  end: number,
  minutes = 10,
): Promise<void> {
  const rows = series.flatMap(([labels, value]) =>
    Array.from({ length: minutes * 4 + 1 }, (_, index) => ({
      labels,
      time: end - (minutes * 4 - index) * 15_000,
      value: typeof value === 'number' ? value : value(index),
    })),
  );
  const { rejected, reasons } = await house.service(MetricsIngest).write(rows);
  if (rejected > 0) {
    throw new Error(reasons.join('; '));
  }
}
