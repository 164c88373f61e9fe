import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost } from 'svc/testing';

import { hostOf } from '../../bin/edge-sim/host.ts';
import { type FaultKind, faultKinds } from '../../bin/edge-sim/options.ts';
import { seeded } from '../../bin/edge-sim/random.ts';
import { Vitals } from '../../bin/edge-sim/vitals.ts';
import { AlertEvaluator } from '../../plugins/alert/contract.ts';
import type { Report } from '../../plugins/investigate/report/markdown.ts';
import { MetricsIngest } from '../../plugins/metricsdb/contract.ts';
import type { Outcome } from '../exercise.ts';
import { HandClock, hour, minute, second } from '../plugins/alert/engine-house.ts';

/** By what is broken: the rule that sees it, and words by which a report is known to have seen it. */
const seen: Readonly<Record<FaultKind, { readonly metric: string; readonly above: number; readonly shows: RegExp }>> = {
  cpu: { metric: 'node_cpu_usage_percent', above: 95, shows: /cpu|load|processor/i },
  memory: { metric: 'node_memory_used_percent', above: 90, shows: /memory/i },
  disk: { metric: 'node_filesystem_used_percent', above: 90, shows: /filesystem|disk|file system/i },
  io: { metric: 'node_disk_io_utilization_percent', above: 90, shows: /disk|io/i },
};

/**
 * A house with the real stores is sent what simulated hosts measure, in their time; one of them breaks, a rule fires, and the
 * report must name that host and what broke. `seeds`: how many fleets, each with another host and another fault.
 */
export async function run({
  seeds = 20,
  first = 1,
  hosts = 6,
  hours = 8,
}: { readonly seeds?: number; readonly first?: number; readonly hosts?: number; readonly hours?: number } = {}): Promise<Outcome> {
  const cases = [];
  let right = 0;
  for (let seed = first; seed < first + seeds; seed += 1) {
    const found = await one(seed, hosts, hours);
    right += found.right ? 1 : 0;
    cases.push(found);
  }
  return { ok: right === seeds, seeds, right, cases };
}

async function one(seed: number, hosts: number, hours: number) {
  const random = seeded('investigate', seed);
  const kind = faultKinds[seed % faultKinds.length]!;
  const broken = 1 + Math.floor(random() * hosts);
  const ends: (() => unknown)[] = [];
  try {
    const clock = new HandClock();
    const house = await startTestHost(
      { after: (end: () => unknown) => void ends.push(end) },
      {
        plugins: ['metricsdb', 'alert', 'changes', 'topology', 'investigate'],
        clock,
      },
    );
    const at = clock.now() + 10 * minute;
    const fleet = Array.from(
      { length: hosts },
      (_, index) => new Vitals(hostOf(String(seed), index + 1), seeded('life', seed, index + 1), index + 1 === broken ? { kind, from: at } : undefined),
    );
    const push = async (time: number): Promise<void> => {
      for (const [index, vitals] of fleet.entries()) {
        const { body } = vitals.write(time, 'full');
        await house
          .service(MetricsIngest)
          .push('remote-write', body, { encoding: 'snappy', stamp: { device_id: String(index + 1), edge_id: String(index + 1) } });
      }
    };
    for (let time = clock.now() - hours * hour; time < clock.now(); time += minute) {
      await push(time);
    }
    const { metric, above, shows } = seen[kind];
    const rule = {
      rule_key: 'broken',
      name: 'Broken',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'critical',
    };
    await house.json('/api/v1/alert-rules', { method: 'POST', body: JSON.stringify({ ...rule, conditions: [{ expr: `${metric} > ${above}`, for: '1m' }] }) });
    const incident = await fired(house, clock, push);
    const report = await ready(house, incident);
    const told = [report.root_cause?.indicator?.name, report.root_cause?.text, report.summary].join(' ');
    const isRight = report.root_cause?.node.id === `device:${broken}` && shows.test(told);
    return {
      seed,
      kind,
      host: broken,
      right: isRight,
      verdict: report.verdict ?? '',
      confidence: report.confidence?.value ?? 0,
      seconds: report.usage.seconds,
      summary: report.summary.slice(0, 120),
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

async function fired(house: TestHost, clock: HandClock, push: (time: number) => Promise<void>): Promise<number> {
  for (let passed = 0; passed < hour; passed += 30 * second) {
    clock.advance(30 * second);
    await push(clock.now());
    await house.service(AlertEvaluator).tick();
    const { items } = await house.json<{ items: { id: number }[] }>('/api/v1/alerts/incidents?rule=broken');
    if (items[0] !== undefined) {
      return items[0].id;
    }
  }
  throw new Error('no alert has fired within an hour');
}

async function ready(house: TestHost, incident: number): Promise<Report> {
  for (let tries = 0; tries < 1_500; tries += 1) {
    const report = await house.json<Report>(`/api/v1/alerts/incidents/${incident}/investigation`);
    if (report.status === 'ready' || report.status === 'failed' || report.status === 'skipped') {
      return report;
    }
    await pause(20);
  }
  throw new Error(`the investigation of incident ${incident} does not end`);
}
