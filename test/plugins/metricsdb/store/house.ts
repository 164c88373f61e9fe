import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import type { Logger } from 'svc/sdk';
import { budget, matcher, type Budget, type Matcher, type MatchOp } from 'svc/query';
import { ProtoWriter, snappyEncode } from 'svc/store';

import type { Series } from '../../../../plugins/metricsdb/promql/vector/source.ts';
import { openMetricsStore } from '../../../../plugins/metricsdb/store/open-store.ts';
import {
  type MetricsStore,
  type MetricsStoreOptions,
} from '../../../../plugins/metricsdb/store/store.ts';

/** Noon of some day; all tests tell the time from here. */
export const noon = Date.UTC(2026, 10, 21, 12);
export const hour = 3_600_000;

export const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export interface StoreHouse {
  readonly folder: string;
  now: number;
  store: MetricsStore;
  /** Opens a store that was closed. */
  reopen(): Promise<void>;
  /** Closes the store and opens it again from its folder. */
  restart(): Promise<MetricsStore>;
}

export async function storeHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<MetricsStoreOptions> = {},
): Promise<StoreHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-metrics-'));
  const open = (): Promise<MetricsStore> =>
    openMetricsStore({
      folder,
      now: () => house.now,
      monotonic: () => house.now,
      log: silent,
      disk: { minFreeShare: 0, minFreeBytes: 0 },
      ...options,
    });
  const house: StoreHouse = {
    folder,
    now: noon,
    store: undefined as unknown as MetricsStore,
    async reopen() {
      house.store = await open();
    },
    async restart() {
      await house.store.close();
      await house.reopen();
      return house.store;
    },
  };
  house.store = await open();
  t.after(async () => {
    await house.store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return house;
}

export const free = (): Budget => budget({ timeoutMs: 60_000, now: () => performance.now() });

/** `matchers('up', 'job=~a.*')` */
export function matchers(name: string, ...others: readonly string[]): Matcher[] {
  return [
    ...(name === '' ? [] : [matcher('__name__', '=', name)]),
    ...others.map((text) => {
      const [, label, op, value] = /^(\w+)(=~|!~|!=|=)(.*)$/s.exec(text)!;
      return matcher(label!, op as MatchOp, value!);
    }),
  ];
}

export type Point = readonly [time: number, value: number | 'stale'];

/** Returns the result of a select, as plain points by label text. */
export async function pointsOf(
  store: MetricsStore,
  conditions: readonly Matcher[],
  mint = -8e15,
  maxt = 8e15,
): Promise<Record<string, Point[]>> {
  const found = await store.source().select(conditions, mint, maxt, {}, free());
  return Object.fromEntries(
    found
      .map((series) => [textOf(series), pointsIn(series)])
      .sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1)),
  );
}

/** The newest point of each series, as an instant query reads it. */
export async function newestOf(
  store: MetricsStore,
  conditions: readonly Matcher[],
  mint: number,
  maxt: number,
): Promise<Record<string, Point>> {
  const found: [string, Point][] = [];
  await store.source().scan!(
    conditions,
    mint,
    maxt,
    { newest: true },
    free(),
    (series) => void found.push([textOf(series), pointsIn(series).at(-1)!]),
  );
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function textOf({ labels }: Series): string {
  const pairs: string[] = [];
  for (let i = 0; i < labels.length; i += 2) {
    pairs.push(`${labels[i]}=${labels[i + 1]}`);
  }
  return pairs.join(',');
}

export function pointsIn({ times, values, length, stale }: Series): Point[] {
  return Array.from(
    { length },
    (_, i) => [times[i]!, stale?.[i] === 1 ? 'stale' : values[i]!] as const,
  );
}

export interface Sent {
  readonly labels: readonly (readonly [string, string])[];
  readonly points: readonly Point[];
}

/** A remote write request, as Prometheus would send it. */
export function remoteWrite(series: readonly Sent[]): Uint8Array {
  const request = new ProtoWriter();
  for (const { labels, points } of series) {
    request.message(1, (out) => {
      for (const [name, value] of labels) {
        out.message(1, (label) => {
          label.string(1, name);
          label.string(2, value);
        });
      }
      for (const [time, value] of points) {
        out.message(2, (sample) => {
          if (value === 'stale') {
            sample.fixed64(1, 0x7ff0000000000002n);
          } else {
            sample.double(1, value);
          }
          sample.int64(2, time);
        });
      }
    });
  }
  return snappyEncode(request.finish());
}
