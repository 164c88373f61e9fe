import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Jobs, type JobsContext, jobTable } from 'svc/jobs';
import type { Clock, Logger, Tables } from 'svc/sdk';

import { OwnedScope } from '../../../../core/registry/scope.ts';
import type { Storage } from '../../../../core/storage/index.ts';
import { silent } from '../../../storage/folder.ts';

/** Tables of the plugin `mill`, which has nothing but jobs and what they have ground. */
export interface MillTables {
  mill_flour: { job: string; note: string };
}

export type MillJobs = Jobs<MillTables>;

export const migrations = [
  { name: '001-add-jobs.sql', sql: jobTable('mill_jobs') },
  {
    name: '002-add-flour.sql',
    sql: 'CREATE TABLE mill_flour (job TEXT NOT NULL, note TEXT NOT NULL) STRICT',
  },
];

export interface MillOptions {
  readonly process?: string;
  readonly generation?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly tables?: Tables<MillTables>;
}

export interface Mill {
  readonly jobs: MillJobs;
  readonly tables: Tables<MillTables>;
  readonly ended: { readonly queue: string; readonly state: string }[];
  /** Commits the generation: its jobs run. */
  start(): void;
  /** The generation leaves. */
  leave(): Promise<void>;
}

/** Generations of one process hear one another's events. */
const listeners = new WeakMap<Storage, Set<() => void>>();

/** One generation of the plugin over a real database. */
export async function openMill(
  storage: Storage,
  { process = 'p1', generation = 1, clock, log = silent, tables: given }: MillOptions = {},
): Promise<Mill> {
  await storage.migrate('mill', migrations);
  const tables = given ?? storage.tables<MillTables>('mill');
  const scope = new OwnedScope('mill', {
    tick: async (_label, work) => work(),
    task: async (_label, work) => work(),
  });
  const heard = listeners.get(storage) ?? new Set();
  listeners.set(storage, heard);
  const ended: { queue: string; state: string }[] = [];
  const none = { add() {}, set() {}, observe() {} };
  const context = {
    id: 'mill',
    generation,
    clock: clock ?? { now: () => Date.now(), monotonic: () => performance.now() },
    ids: {
      uuid: () => randomUUID(),
      token: (bytes = 16) => randomBytes(bytes).toString('base64url'),
    },
    log,
    scope,
    metrics: {
      counter: () => ({
        add: (_amount: number, labels: { queue: string; state: string }) => void ended.push(labels),
      }),
      gauge: () => none,
      histogram: () => none,
    },
    events: {
      on: (_type: unknown, listener: () => void) => void heard.add(listener),
      emit: () => heard.forEach((listener) => listener()),
    },
    extend: { contribute() {} },
  } as unknown as JobsContext;
  return {
    jobs: new Jobs<MillTables>(context, { tables, process }),
    tables,
    ended,
    start: () => scope.arm(),
    leave: async () => void (await scope.close()),
  };
}

export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await what());) {
    if (Date.now() > deadline) {
      throw new Error(`never happened: ${what.toString()}`);
    }
    await sleep(5);
  }
}
