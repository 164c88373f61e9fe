import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest, type SampleRow } from 'svc/contracts/metricsdb';
import { startTestHost, type TestHost } from 'svc/testing';

import type { Report } from '../../../plugins/investigate/report/markdown.ts';
import { HandClock, minute } from '../alert/engine-house.ts';
import { AlertEvaluator } from 'svc/contracts/alert';
import { numbers } from '../alert/random.ts';
import { post } from './house.ts';

/** Value of one series at a minute; counters are given by their growth a minute. */
export type Course = (at: number, noise: () => number) => number;

export interface Measured {
  readonly labels: Readonly<Record<string, string>>;
  readonly course: Course;
  readonly counter?: boolean;
}

/** Lines that a service writes in a minute. */
export interface Written {
  readonly labels: Readonly<Record<string, string>>;
  readonly lines: (at: number) => readonly string[];
}

/** World that svc has made nothing of: series, lines, topology and a rule come in as people send them. */
export interface ForeignWorld {
  readonly series: readonly Measured[];
  readonly written?: readonly Written[];
  readonly nodes?: readonly (readonly [name: string, type: string])[];
  /** Names of the dependent and of what it depends on. */
  readonly relations?: readonly (readonly [src: string, dst: string, type: string])[];
  readonly rule: Record<string, unknown>;
  /** Minutes before the first one that is faulty, and after it. */
  readonly before: number;
  readonly after: number;
}

/** Lets a world happen and returns the report on the incident of its rule. */
export async function reportOn(
  t: Pick<TestContext, 'after'>,
  { series, written = [], nodes = [], relations = [], rule, before, after }: ForeignWorld,
): Promise<Report & { readonly markdown: string }> {
  const clock = new HandClock();
  const house = await startTestHost(t, {
    plugins: [
      'metricsdb',
      ...(written.length > 0 ? ['logs'] : []),
      'alert',
      'topology',
      'changes',
      'investigate',
    ],
    clock,
  });
  const ids = new Map<string, number>();
  for (const [name, type] of nodes) {
    const { id } = await house.json<{ id: number }>('/api/v1/topology/nodes', post({ name, type }));
    ids.set(name, id);
  }
  for (const [src, dst, type] of relations) {
    const relation = { type, src_id: ids.get(src), dst_id: ids.get(dst) };
    await house.json('/api/v1/topology/relations', post(relation));
  }
  const random = numbers(7);
  const noise = (): number => random(2_000) / 1_000 - 1;
  const totals = series.map(() => 0);
  const rowsAt = (at: number, time: number): SampleRow[] =>
    series.map(({ labels, course, counter = false }, index) => {
      const value = course(at, noise);
      totals[index] = totals[index]! + value;
      return { labels, time, value: counter ? totals[index] : value };
    });
  const store = house.service(MetricsIngest);
  const write = async (at: number, time: number): Promise<void> => {
    const lines = written.flatMap(({ labels, lines: said }) =>
      said(at).map((line, index) => ({ labels, line, at: { ms: time + index, ns: 0 } })),
    );
    if (lines.length > 0) {
      await house.service(LogIngest).write(lines);
    }
  };
  const from = clock.now() - before * minute;
  const past: SampleRow[] = [];
  for (let at = 0; at < before; at += 1) {
    past.push(...rowsAt(at, from + at * minute));
    await write(at, from + at * minute);
  }
  await store.write(past);
  const incidents = `/api/v1/alerts/incidents?rule=${String(rule['rule_key'])}`;
  for (let at = 0; at < after + 10; at += 1) {
    if (at === after - 1) {
      await house.json(
        '/api/v1/alert-rules',
        post({
          name: String(rule['rule_key']),
          kind: 'metric_raw',
          source_type: 'svc_builtin',
          scope_type: 'global',
          join_mode: 'all',
          severity: 'critical',
          ...rule,
        }),
      );
    }
    await store.write(rowsAt(before + at, clock.now() + minute));
    await write(before + at, clock.now() + minute / 2);
    clock.advance(minute);
    await house.service(AlertEvaluator).tick();
    const incident = at < after - 1 ? undefined : await firstOf(house, incidents);
    // From here on time stands still: an investigation has deadlines by this clock.
    for (let tries = 0; incident !== undefined && tries < 1_500; tries += 1) {
      const report = await house.json<Report & { markdown: string }>(
        `/api/v1/alerts/incidents/${incident}/investigation`,
      );
      if (['ready', 'failed', 'skipped'].includes(report.status)) {
        return report;
      }
      await pause(20);
    }
  }
  throw new Error('the rule has not fired, or its incident was not investigated');
}

/** Returns the first of a list of incidents; it may be there a moment after the evaluation. */
async function firstOf(house: TestHost, path: string): Promise<number | undefined> {
  for (let tries = 0; tries < 25; tries += 1) {
    const { items } = await house.json<{ items: { id: number }[] }>(path);
    if (items.length > 0) {
      return items[0]!.id;
    }
    await pause(20);
  }
  return undefined;
}
