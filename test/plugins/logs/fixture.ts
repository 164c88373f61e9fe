import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import { budget, labelsRecord, type Matcher, matcher } from 'svc/query';

import {
  type LogStore,
  type LogStoreOptions,
  openLogStore,
} from '../../../plugins/logs/store/store.ts';

export const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** 2026-11-20T18:00:00Z: the present of every test here. */
export const present = 1_795_197_600_000;

export interface OpenedStore {
  readonly store: LogStore;
  readonly folder: string;
  /** Moves the clock. */
  readonly clock: { now: number };
  /** Reopens the store. */
  again(options?: Partial<LogStoreOptions>): Promise<LogStore>;
}

/** Opens a store in a temporary folder, which is deleted when the test ends. */
export async function openStore(
  t: Pick<TestContext, 'after'>,
  options: Partial<LogStoreOptions> = {},
): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-logs-'));
  const clock = { now: present };
  const disk = { look: () => ({ free: 1e12, total: 1e12 }) };
  const open = (more: Partial<LogStoreOptions> = {}): Promise<LogStore> =>
    openLogStore({
      folder,
      log: silent,
      now: () => clock.now,
      monotonic: () => clock.now,
      disk,
      ...options,
      ...more,
    });
  let store = await open();
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    get store() {
      return store;
    },
    folder,
    clock,
    async again(more) {
      await store.close();
      store = await open(more);
      return store;
    },
  };
}

type Value =
  | readonly [number | string, string]
  | readonly [number | string, string, Readonly<Record<string, string>>];

/** A push body; times are milliseconds after the present, or nanoseconds as text. */
export const body = (labels: Readonly<Record<string, string>>, values: readonly Value[]): Buffer =>
  Buffer.from(JSON.stringify({ streams: [stream(labels, values)] }));

export const stream = (
  labels: Readonly<Record<string, string>>,
  values: readonly Value[],
): object => ({
  stream: labels,
  values: values.map(([at, ...rest]) => [
    typeof at === 'string' ? at : `${present + at}000000`,
    ...rest,
  ]),
});

export const push = (
  store: LogStore,
  labels: Readonly<Record<string, string>>,
  values: readonly Value[],
): ReturnType<LogStore['push']> => store.push('loki-json', body(labels, values), {});

export interface ReadOptions {
  readonly matchers?: readonly Matcher[];
  readonly start?: number;
  readonly end?: number;
  readonly direction?: 'forward' | 'backward';
  readonly contains?: readonly string[];
  readonly unread?: (what: string) => void;
}

export interface ReadLine {
  readonly at: number;
  readonly line: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Every line of the window, as the source tells them; times in milliseconds after the present. */
export async function read(store: LogStore, options: ReadOptions = {}): Promise<ReadLine[]> {
  const {
    matchers = [matcher('app', '=~', '.+')],
    start = -1e12,
    end = 1e12,
    direction = 'forward',
    contains,
    unread = () => undefined,
  } = options;
  const limits = budget({ timeoutMs: 60_000, now: () => performance.now() });
  const found: ReadLine[] = [];
  const window = [nanos(start), nanos(end)] as const;
  for await (const { labels, entries } of store
    .source()
    .select(matchers, ...window, { direction, ...(contains && { contains }) }, limits)) {
    for (const { ms, ns, line, metadata = [] } of entries) {
      found.push({
        at: ms - present + ns / 1e6,
        line,
        labels: labelsRecord(labels),
        metadata: labelsRecord(metadata),
      });
    }
  }
  limits.warnings.forEach(unread);
  return found;
}

const nanos = (after: number): { ms: number; ns: number } => ({
  ms: Math.floor(present + after),
  ns: 0,
});

export const linesOf = (found: readonly ReadLine[]): string[] => found.map(({ line }) => line);
