import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { MetricsIngest, MetricsQueries, type SampleRow } from 'svc/contracts/metricsdb';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the caller's assertion says
  readonly body: any;
}

export interface MetricsHouse {
  readonly house: TestHost;
  readonly queries: MetricsQueries;
  readonly ingest: MetricsIngest;
  /** GET of the Prometheus API, with these parameters. */
  get(path: string, parameters?: Parameters): Promise<Answered>;
  /** The same as a form. */
  post(path: string, parameters?: Parameters): Promise<Answered>;
  /** A call of our own API. */
  call(path: string, body: unknown): Promise<Answered>;
  set(key: string, value: unknown): Promise<void>;
  unset(key: string): Promise<void>;
}

type Parameters = Readonly<Record<string, string | number | readonly string[]>>;

/** Starts a host with the metrics store and settings, and nothing else. */
export async function metricsHouse(
  t: TestContext,
  options: {
    environment?: Readonly<Record<string, string>>;
    plugins?: readonly string[];
    dataDir?: string;
  } = {},
): Promise<MetricsHouse> {
  const { plugins = [], environment = {}, dataDir } = options;
  const house = await startTestHost(t, {
    plugins: ['programs', 'metricsdb', 'setting', ...plugins],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1', ...environment },
    ...(dataDir !== undefined && { dataDir }),
  });
  useNoLeaks(t, house);
  const read = async (answer: Response): Promise<Answered> => {
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body:
        answer.headers.get('content-type')?.includes('json') === true
          ? JSON.parse(text)
          : undefined,
    };
  };
  const setting = (key: string, init: RequestInit): Promise<unknown> =>
    house.json(`/api/v1/system-settings/metricsdb/${key}`, init);
  return {
    house,
    queries: house.service(MetricsQueries),
    ingest: house.service(MetricsIngest),
    get: async (path, parameters = {}) =>
      read(await house.fetch(`/prometheus/api/v1/${path}?${encoded(parameters)}`)),
    post: async (path, parameters = {}) =>
      read(
        await house.fetch(`/prometheus/api/v1/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: encoded(parameters),
        }),
      ),
    call: async (path, body) =>
      read(await house.fetch(path, { method: 'POST', body: JSON.stringify(body) })),
    set: async (key, value) =>
      void (await setting(key, { method: 'PUT', body: JSON.stringify({ value }) })),
    unset: async (key) => void (await setting(key, { method: 'DELETE' })),
  };
}

const encoded = (parameters: Parameters): string =>
  new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    ),
  ).toString();

/** Rows of one series, a second apart, the last one at `end`. */
export const rows = (
  labels: Readonly<Record<string, string>>,
  values: readonly number[],
  end: number,
): SampleRow[] =>
  values.map((value, at) => ({ labels, time: end - (values.length - 1 - at) * 1_000, value }));

export async function until<T>(
  what: string,
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
): Promise<T> {
  for (const deadline = Date.now() + 20_000; ; await pause(50)) {
    const seen = await look();
    if (holds(seen)) {
      return seen;
    }
    assert.ok(Date.now() < deadline, `within 20 s: ${what}; last seen: ${JSON.stringify(seen)}`);
  }
}
