import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest, type SampleRow } from 'svc/contracts/metricsdb';
import { startTestHost, type TestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

import type { Report } from '../../../plugins/investigate/report/markdown.ts';
import { HandClock, hour, minute, second } from '../alert/engine-house.ts';
import { numbers } from '../alert/random.ts';
import { pretendDevices } from './pretend-devices.ts';

export type Vitals = Readonly<Record<string, number>>;

/** Values that a host measures at a time: usual ones with noise, changed by its fault. */
export type Fault = (device: number, at: number, usual: Vitals) => Vitals;

export interface InvestigateHouse extends TestHost {
  readonly clock: HandClock;
  /** Writes what hosts measure, moves the clock, and lets the evaluator look. */
  pass(ms: number, fault?: Fault, stepMs?: number): Promise<void>;
  rule(rule: Record<string, unknown>): Promise<void>;
  /** The newest incident of a rule, or of this device, once it is there, while time passes with the fault. */
  fired(rule: string, fault: Fault, device?: string): Promise<number>;
  report(
    incident: number,
    isDone?: (report: Report) => boolean,
  ): Promise<Report & { markdown: string }>;
}

export const post = (body: object = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
});

/** One host runs out of processor, and its load follows. */
export const hot: (device: number) => Fault = (bad) => (device, _at, usual) =>
  device === bad ? { ...usual, node_cpu_usage_percent: 98, node_load1: 30 } : usual;

/**
 * Starts a fleet of hosts with the real stores of signals, in which time stands still until moved.
 */
export async function investigateHouse(
  t: Pick<TestContext, 'after'>,
  {
    hosts = 5,
    seed = 1,
    hours = 8,
    leaky = false,
    ...options
  }: Partial<TestHostOptions> & {
    readonly hosts?: number;
    readonly seed?: number;
    readonly hours?: number;
    readonly leaky?: boolean;
    readonly clock?: HandClock;
  } = {},
): Promise<InvestigateHouse> {
  const clock = options.clock ?? new HandClock();
  const random = numbers(seed);
  const { devices, directory } = pretendDevices(hosts);
  const house = await startTestHost(t, {
    plugins: ['metricsdb', 'alert', 'topology', 'changes', 'investigate'],
    ...options,
    clock,
    services: { 'device.directory': directory, ...options.services },
  });
  if (!leaky) {
    useNoLeaks(t, house);
  }
  const natures = devices.map(() => ({
    cpu: 10 + random(30),
    memory: 30 + random(30),
    disk: 40 + random(20),
    load: 0.5 + random(2),
  }));
  const noise = (size: number): number => size * (random(2_000) / 1_000 - 1);
  const usualOf = (device: number): Vitals => {
    const { cpu, memory, disk, load } = natures[device - 1]!;
    return {
      node_cpu_usage_percent: cpu + noise(4),
      node_memory_used_percent: memory + noise(1),
      node_filesystem_used_percent: disk,
      node_load1: load + noise(0.3),
      node_disk_io_utilization_percent: 5 + noise(3),
      node_network_receive_bytes_per_second: 1e6 + noise(2e5),
      node_swap_used_percent: 0,
    };
  };
  const rowsAt = (time: number, fault: Fault): SampleRow[] =>
    devices.flatMap(({ id }) =>
      Object.entries(fault(id, time, usualOf(id))).map(([name, value]) => ({
        labels: { __name__: name, device_id: String(id) },
        time,
        value,
      })),
    );
  const healthy: Fault = (_device, _at, usual) => usual;
  const write = (rows: readonly SampleRow[]): Promise<unknown> =>
    house.service(MetricsIngest).write(rows);
  for (let at = clock.now() - hours * hour; at <= clock.now(); at += 30 * minute) {
    const rows: SampleRow[] = [];
    for (let time = at; time < Math.min(at + 30 * minute, clock.now()); time += minute) {
      rows.push(...rowsAt(time, healthy));
    }
    await write(rows);
  }
  return Object.assign(house, {
    clock,
    async pass(ms: number, fault: Fault = healthy, stepMs = 30 * second) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await write(rowsAt(clock.now() + stepMs, fault));
        // In one step: were it the evaluator's own tick that took the slot, time would go on while it asks, and its deadlines pass.
        clock.advance(stepMs);
        await house.service(AlertEvaluator).tick();
      }
    },
    async rule(rule: Record<string, unknown>) {
      await house.json(
        '/api/v1/alert-rules',
        post({
          name: String(rule['rule_key']),
          kind: 'metric_raw',
          source_type: 'svc_builtin',
          scope_type: 'host',
          join_mode: 'all',
          severity: 'critical',
          ...rule,
        }),
      );
    },
    async fired(rule: string, fault: Fault, device?: string) {
      for (let tries = 0; tries < 60; tries += 1) {
        await this.pass(30 * second, fault);
        const { items } = await house.json<{ items: { id: number; device_id?: string }[] }>(
          `/api/v1/alerts/incidents?rule=${rule}`,
        );
        const found = items.find(({ device_id: id }) => device === undefined || id === device);
        if (found !== undefined) {
          return found.id;
        }
      }
      throw new Error(`rule ${rule} has not fired`);
    },
    async report(
      incident: number,
      isDone = ({ status }: Report) =>
        status === 'ready' || status === 'failed' || status === 'skipped',
    ) {
      for (let tries = 0; tries < 1_000; tries += 1) {
        const report = await house.json<Report & { markdown: string }>(
          `/api/v1/alerts/incidents/${incident}/investigation`,
        );
        if (isDone(report)) {
          return report;
        }
        await pause(20);
      }
      throw new Error(`the investigation of incident ${incident} does not end`);
    },
  });
}
