import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { AlertEvaluator } from 'svc/contracts/alert';
import { startTestHost, type TestHost } from 'svc/testing';
import type { Static } from 'typebox';

import { Application } from '../../../plugins/edge/cli/sim/application.ts';
import { DataPlane } from '../../../plugins/edge/cli/sim/data-plane.ts';
import { startFleet } from '../../../plugins/edge/cli/sim/fleet.ts';
import { hostOf } from '../../../plugins/edge/cli/sim/host.ts';
import { KeyFile } from '../../../plugins/edge/cli/sim/keys.ts';
import type { FaultKind, SimOptions } from '../../../plugins/edge/cli/sim/options.ts';
import { pushByRequest } from '../../../plugins/edge/cli/sim/push.ts';
import { seeded } from 'svc/seeded';
import { Telemetry } from '../../../plugins/edge/cli/sim/telemetry.ts';
import type { AgainItem } from '../../../plugins/investigate/asked-again.ts';
import type { Report } from '../../../plugins/investigate/report/markdown.ts';
import { HandClock, minute } from '../alert/engine-house.ts';
import { simulator } from '../../simulator.ts';

const plugins = [
  'device',
  'edge',
  'iam',
  'session',
  'ingest',
  'metricsdb',
  'logs',
  'traces',
  'alert',
  'topology',
  'changes',
  'investigate',
];

interface FedOptions {
  readonly seed: string;
  readonly count: number;
  readonly requestsPerMinute?: number;
  readonly logsPerSecond?: number;
  readonly metrics?: SimOptions['metrics'];
  /** True if requests leave spans; they are served in any case. */
  readonly traced?: boolean;
  readonly fault?: { readonly kind: FaultKind; readonly host: number; readonly after: number };
}

/**
 * Host whose devices are simulated edges: enrolled, known as devices, and pushing through the
 * product's API.
 */
export interface FedHouse extends TestHost {
  readonly clock: HandClock;
  readonly application: Application;
  /** Devices by the numbers of the hosts. */
  readonly devices: ReadonlyMap<number, { readonly id: number; readonly hostname: string }>;
  /** Time passes; what hosts measure, log and serve meanwhile is pushed as agents push it. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** A host pushes the same line so many times, with labels of its own making; `age`: as of so many milliseconds ago. */
  say(
    host: number,
    line: string,
    times: number,
    labels: Readonly<Record<string, string>>,
    age?: number,
  ): Promise<void>;
  /** Enters the dependencies in the topology. */
  drawTopology(): Promise<void>;
  /** The one incident of a rule, or of this device, once it is there. */
  fired(rule: string, host?: number): Promise<number>;
  report(incident: number): Promise<Report & { readonly markdown: string }>;
  /** The incident of a rule on the failures of the service where people come in. */
  watchFailures(): Promise<number>;
  /**
   * Every piece of evidence of a report, asked once more: how many, those that differ only in what was said to be on its way, and those
   * whose stored digest does not come again, with what became of them.
   */
  askedAgain(report: number): Promise<{
    readonly asked: number;
    readonly late: readonly string[];
    readonly other: readonly string[];
  }>;
}

/** `fault.after`: milliseconds from now on. */
export async function fedHouse(
  t: Pick<TestContext, 'after'>,
  options: FedOptions,
): Promise<FedHouse> {
  const {
    seed,
    count,
    requestsPerMinute = 0,
    logsPerSecond = 0,
    metrics = 'snapshot',
    traced = true,
    fault,
  } = options;
  const clock = new HandClock();
  const house = await startTestHost(t, {
    plugins,
    clock,
    environment: { SVC_INVESTIGATE_MOST_PER_RULE: '100', SVC_INVESTIGATE_MOST_PER_PERSON: '1000' },
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-fed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const told: SimOptions = {
    manager: new URL(house.url),
    token: undefined,
    count,
    ramp: 0,
    seed,
    failProb: 0,
    intervalMs: minute,
    metrics,
    logsPerSecond,
    requestsPerMinute,
    ...(fault && { fault: { kind: fault.kind, host: fault.host, afterMs: fault.after } }),
  };
  const devices = await introduce(house, told, folder);
  const keys = new KeyFile(folder, seed, told.manager);
  const plane = new DataPlane();
  t.after(() => plane.close());
  const fleet = [...devices.keys()].map((number) => {
    const { access_key: access, secret_key: secret } = keys.get(number)!;
    const telemetry = new Telemetry(
      hostOf(seed, number),
      seeded('life', seed, number),
      told,
      clock.now(),
    );
    return {
      telemetry,
      authorization: `Basic ${Buffer.from(`${access}:${secret}`).toString('base64')}`,
    };
  });
  const over = new AbortController().signal;
  /**
   * Advances time: pushes first, and evaluates within the step of the clock, as its own tick would
   * query while time advances, past its deadlines.
   */
  const go = async (ms: number): Promise<void> => {
    const to = clock.now() + ms;
    await Promise.all(
      fleet.map(async ({ telemetry, authorization }) => {
        for (const { push } of telemetry
          .upTo(to)
          .filter(({ spans }) => traced || spans === undefined)) {
          await pushByRequest(plane, push, {
            manager: told.manager,
            authorization,
            cut: false,
            signal: over,
          });
        }
      }),
    );
    clock.advance(ms);
    await house.service(AlertEvaluator).tick();
  };
  const application = new Application(
    told,
    1,
    fault && { ...fault, from: clock.now() + fault.after },
  );
  return Object.assign(house, {
    clock,
    application,
    devices,
    async pass(ms: number, stepMs = minute) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await go(stepMs);
      }
    },
    async say(
      host: number,
      line: string,
      times: number,
      labels: Readonly<Record<string, string>>,
      age = 0,
    ) {
      const values = Array.from({ length: times }, (_, at) => [
        `${clock.now() - age - at}000000`,
        line,
      ]);
      const body = Buffer.from(JSON.stringify({ streams: [{ stream: labels, values }] }));
      const { authorization } = fleet[[...devices.keys()].indexOf(host)]!;
      await pushByRequest(
        plane,
        { to: '/loki/api/v1/push', type: 'application/json', body },
        { manager: told.manager, authorization, cut: false, signal: over },
      );
    },
    drawTopology: () => drawTopology(house, application, devices),
    async fired(rule: string, host?: number) {
      for (let tries = 0; tries < 60; tries += 1) {
        await go(minute / 2);
        const { items } = await house.json<{ items: { id: number; device_id?: string }[] }>(
          `/api/v1/alerts/incidents?rule=${rule}`,
        );
        const found = items.find(
          ({ device_id: id }) => host === undefined || id === String(devices.get(host)!.id),
        );
        if (found !== undefined) {
          return found.id;
        }
      }
      throw new Error(`rule ${rule} has not fired`);
    },
    async watchFailures() {
      const rule = {
        rule_key: 'failing',
        name: 'Failing',
        kind: 'trace_error_rate',
        source_type: 'svc_builtin',
        scope_type: 'global',
        join_mode: 'all',
        severity: 'critical',
        conditions: [{ service: application.serviceOf(1), above_percent: 10, window: '5m' }],
      };
      await house.json('/api/v1/alert-rules', { method: 'POST', body: JSON.stringify(rule) });
      return await this.fired('failing');
    },
    async askedAgain(id: number) {
      const { evidence } = await house.json<Report>(`/api/v1/investigations/${id}`);
      const late: string[] = [];
      const other: string[] = [];
      for (const { again, query, source } of evidence) {
        const {
          same,
          settled_same: settled,
          error,
          text,
        } = await house.json<Static<typeof AgainItem>>(again);
        if (!same) {
          (settled === true ? late : other).push(`${source}: ${query}: ${error ?? text}`);
        }
      }
      return { asked: evidence.length, late, other };
    },
    async report(incident: number) {
      for (let tries = 0; tries < 2_000; tries += 1) {
        const report = await house.json<Report & { markdown: string }>(
          `/api/v1/alerts/incidents/${incident}/investigation`,
        );
        if (['ready', 'failed', 'skipped'].includes(report.status)) {
          return report;
        }
        await pause(20);
      }
      throw new Error(`the investigation of incident ${incident} does not end`);
    },
  });
}

/**
 * Enrols each host and reports it once, so that it becomes a device; they use real time, and
 * disconnect.
 */
async function introduce(
  house: TestHost,
  told: SimOptions,
  folder: string,
): Promise<FedHouse['devices']> {
  const { token } = await house.json<{ token: string }>('/api/v1/edges/enrolments', {
    method: 'POST',
    body: JSON.stringify({ max_uses: told.count }),
  });
  const fleet = startFleet(
    {
      ...told,
      token,
      intervalMs: 3_600_000,
      fault: undefined,
      requestsPerMinute: 0,
      logsPerSecond: 0,
    },
    folder,
    simulator,
  );
  const numbers = Array.from({ length: told.count }, (_, at) => at + 1);
  const wanted = new Map(numbers.map((number) => [hostOf(told.seed, number).hostname, number]));
  try {
    for (let tries = 0; tries < 1_500; tries += 1) {
      const { items } = await house.json<{ items: { id: number; hostname: string }[] }>(
        '/api/v1/devices?limit=200',
      );
      const known = new Map(
        items.flatMap((device) =>
          wanted.has(device.hostname) ? [[wanted.get(device.hostname)!, device] as const] : [],
        ),
      );
      if (known.size === told.count) {
        return known;
      }
      await pause(20);
    }
    throw new Error(`not every host became a device: ${JSON.stringify(fleet.figures())}`);
  } finally {
    fleet.stop();
    await fleet.ended;
  }
}

async function drawTopology(
  house: TestHost,
  application: Application,
  devices: FedHouse['devices'],
): Promise<void> {
  const nodes = await hostNodes(house, devices.size);
  const nodeOf = (number: number): number => nodes.get(String(devices.get(number)!.id))!;
  for (const number of devices.keys()) {
    for (const other of application.needs(number)) {
      const relation = { type: 'depends_on', src_id: nodeOf(number), dst_id: nodeOf(other) };
      await house.json('/api/v1/topology/relations', {
        method: 'POST',
        body: JSON.stringify(relation),
      });
    }
  }
}

/** Waits for the topology, which mirrors devices a moment later. */
async function hostNodes(house: TestHost, count: number): Promise<ReadonlyMap<string, number>> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { items } = await house.json<{
      items: { id: number; device_id: string | number | null }[];
    }>('/api/v1/topology/nodes?type=host&limit=200');
    if (items.length === count) {
      return new Map(items.map(({ id, device_id: device }) => [String(device), id]));
    }
    await pause(20);
  }
  throw new Error('the topology does not have every device');
}
