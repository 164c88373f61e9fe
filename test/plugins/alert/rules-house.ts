import type { TestContext } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest, MetricsQueries, type SampleRow } from 'svc/contracts/metricsdb';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the caller's assertion says
  readonly body: any;
}

/** Clock that stands still until moved. */
export class StoppedClock {
  #now: number;
  #passed = 0;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#passed;
  }

  pass(ms: number): void {
    this.#now += ms;
    this.#passed += ms;
  }
}

export interface RulesHouse {
  readonly house: TestHost;
  readonly ingest: MetricsIngest;
  readonly queries: MetricsQueries;
  readonly lines: LogIngest;
  readonly evaluator: AlertEvaluator;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
}

/** Starts a host with rules and the stores that they query, and nothing else. */
export async function rulesHouse(
  t: TestContext,
  options: {
    readonly clock?: StoppedClock;
    readonly dataDir?: string;
    readonly plugins?: readonly string[];
  } = {},
): Promise<RulesHouse> {
  const { plugins = ['metricsdb', 'logs'], ...rest } = options;
  const house = await startTestHost(t, { plugins: ['alert', ...plugins], ...rest });
  useNoLeaks(t, house);
  return {
    house,
    get ingest() {
      return house.service(MetricsIngest);
    },
    get queries() {
      return house.service(MetricsQueries);
    },
    get lines() {
      return house.service(LogIngest);
    },
    get evaluator() {
      return house.service(AlertEvaluator);
    },
    async call(method, path, body, headers = {}) {
      const answer = await house.fetch(`/api/v1/${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        headers: answer.headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
  };
}

/** Returns a minimal rule. */
export const draft = (more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  rule_key: 'cpu_busy',
  name: 'CPU is busy',
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  scope_type: 'host',
  join_mode: 'all',
  severity: 'warning',
  conditions: [{ expr: 'node_cpu_usage_percent > 90' }],
  ...more,
});

export const rows = (
  name: string,
  labels: Readonly<Record<string, string>>,
  samples: readonly (readonly [time: number, value: number])[],
): SampleRow[] =>
  samples.map(([time, value]) => ({ labels: { ...labels, __name__: name }, time, value }));
