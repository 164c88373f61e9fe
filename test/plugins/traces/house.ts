import type { TestContext } from 'node:test';

import type { PushAnswer } from 'svc/contracts/metricsdb';
import { TraceIngest } from 'svc/contracts/traces';
import { startTestHost, type TestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

import { bodyOf, type Plain, type Sent, startMs } from './bodies.ts';

/** Starts a host with this plugin alone, a little after the spans of `bodies.ts`. */
export async function openHouse(
  t: TestContext,
  options: Partial<TestHostOptions> & { readonly now?: number } = {},
): Promise<TestHost> {
  const { now = startMs + 10_000, ...more } = options;
  const house = await startTestHost(t, {
    plugins: ['traces'],
    clock: { now: () => now, monotonic: () => performance.now() },
    ...more,
  });
  useNoLeaks(t, house);
  return house;
}

export const push = (
  house: TestHost,
  resource: Readonly<Record<string, Plain>>,
  ...spans: readonly Sent[]
): Promise<PushAnswer> =>
  house.service(TraceIngest).push('otlp-proto', bodyOf(resource, ...spans), {});

export interface Told {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

export async function text(house: TestHost, path: string, init?: RequestInit): Promise<Told> {
  const answer = await house.fetch(path, init);
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    body: await answer.text(),
  };
}
