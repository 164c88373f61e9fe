import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import type Database from 'better-sqlite3';
import { type AuditRecord, Authenticator, type Principal } from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions } from 'svc/testing';
import { changedOnPurpose } from '../../on-purpose.ts';
import { copyStored, storedIn } from '../../kit/stored.ts';
import { overPostgres } from '../../kit/database.ts';

export const ledger = fileURLToPath(new URL('../../fixtures/plugins/ledger', import.meta.url));
export const trailPath = '/api/v1/admin/audit-logs';

export interface Logged {
  readonly id: number;
  readonly occurred_at: string;
  readonly actor: {
    readonly type: string;
    readonly id: string;
    readonly email: string | null;
    readonly role: string;
    readonly name: string | null;
  };
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly status: string;
  readonly http_status: number;
  readonly error: string | null;
  readonly request_id: string;
  readonly changes: { readonly before: unknown; readonly after: unknown } | null;
  readonly prev_hash: string;
  readonly hash: string;
}

export interface Listed {
  readonly items: readonly Logged[];
  readonly next_cursor: string;
  readonly total: number;
}

export interface Found {
  readonly ok: boolean;
  readonly rows: number;
  readonly first_bad_seq?: number;
  readonly reason?: string;
  readonly checkpoints: number;
  readonly anchors: number;
}

const people: Readonly<Record<string, Principal>> = {
  anna: {
    kind: 'user',
    id: '3',
    email: 'anna@example.org',
    name: 'Anna',
    role: 'user',
    grants: ['ledger:write'],
  },
  vera: { kind: 'user', id: '4', email: 'vera@example.org', role: 'viewer', grants: [] },
};

/** Starts a host with the trail and a plugin to audit; `anna` and `vera` are bearer tokens here. */
export function auditHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<TestHost> {
  const authenticate = ({ value }: { value: string }): Principal | undefined => people[value];
  return startTestHost(t, {
    plugins: ['audit', 'host', ledger],
    ...options,
    services: { [Authenticator.id]: { authenticate }, ...options.services },
  });
}

export const as = (token: string): { headers: Record<string, string> } => ({
  headers: { authorization: `Bearer ${token}` },
});

export const post = (
  house: TestHost,
  path: string,
  body: unknown,
  init: RequestInit = {},
): Promise<Response> =>
  house.fetch(`/api/v1/ledger/${path}`, { ...init, method: 'POST', body: JSON.stringify(body) });

export const list = (house: TestHost, query = ''): Promise<Listed> =>
  house.json<Listed>(`${trailPath}${query}`);

export const verify = (house: TestHost): Promise<Found> => house.json<Found>(`${trailPath}/verify`);

/** The database as somebody has it who got hold of the file. */
export function inFile<T>(dataDir: string, work: (database: Database.Database) => T): T {
  const database = storedIn(dataDir);
  try {
    return work(database);
  } finally {
    database.close();
    changedOnPurpose(dataDir);
  }
}

/** Drops the triggers for the time of a deed, and covers it up. */
export function withoutTriggers<T>(dataDir: string, work: (database: Database.Database) => T): T {
  return inFile(dataDir, (database) => {
    if (overPostgres) {
      const tables = database
        .prepare(
          "select distinct event_object_table from information_schema.triggers where event_object_table like 'audit_%'",
        )
        .pluck()
        .all() as string[];
      const all = (change: string): void =>
        tables.forEach((table) => database.exec(`alter table ${table} ${change} trigger user`));
      all('disable');
      const result = work(database);
      all('enable');
      return result;
    }
    const triggers = database
      .prepare("select name, sql from sqlite_schema where type = 'trigger' and name like 'audit_%'")
      .all() as {
      name: string;
      sql: string;
    }[];
    triggers.forEach(({ name }) => database.exec(`drop trigger ${name}`));
    const result = work(database);
    triggers.forEach(({ sql }) => database.exec(sql));
    return result;
  });
}

/** A folder of one's own, gone when the test ends. */
export function folder(t: Pick<TestContext, 'after'>, from?: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-audit-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  if (from !== undefined) {
    copyStored(from, dir);
  }
  return dir;
}

export const record = (over: Partial<AuditRecord> = {}): AuditRecord => ({
  occurredAt: Date.parse('2026-03-01T12:00:00Z'),
  principal: people['anna']!,
  ip: '10.0.0.7',
  userAgent: 'test',
  action: 'edge:create',
  resourceType: 'edge',
  resourceId: '12',
  status: 'success',
  httpStatus: 201,
  error: undefined,
  requestId: 'r-1',
  before: undefined,
  after: undefined,
  ...over,
});
