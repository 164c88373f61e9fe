import { type FaultKind, faultKinds } from '../../plugins/edge/cli/sim/options.ts';
import { seeded } from 'svc/seeded';
import type { Outcome } from '../exercise.ts';
import { hour, minute } from '../plugins/alert/engine-house.ts';
import { type FedHouse, fedHouse } from '../plugins/investigate/fed-house.ts';

/** Words by which a report is known to have seen what is broken. */
const shows: Readonly<Record<FaultKind, RegExp>> = {
  cpu: /cpu|load|processor/i,
  memory: /memory/i,
  disk: /filesystem|disk|file system/i,
  io: /disk|io/i,
};

/** Sources of dependencies: people who draw them, or traces that pass through them. */
const ways = ['topology', 'traces'] as const;

/**
 * Simulated edges of one application push what they measure, log and serve through the doors of the product. One host breaks,
 * those that need it suffer, and an alert of the first of them fires: the report must name the host that broke, and what broke.
 */
export async function run({
  seeds = 20,
  first = 1,
  hosts = 8,
  hours = 2,
}: {
  readonly seeds?: number;
  readonly first?: number;
  readonly hosts?: number;
  readonly hours?: number;
} = {}): Promise<Outcome> {
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
  const broken = 2 + Math.floor(random() * (hosts - 1));
  const way = ways[Math.floor(seed / faultKinds.length) % ways.length]!;
  const ends: (() => unknown)[] = [];
  try {
    const house = await fedHouse(
      { after: (end: () => unknown) => void ends.unshift(end) },
      {
        seed: String(seed),
        count: hosts,
        requestsPerMinute: 20,
        logsPerSecond: 0.05,
        traced: way === 'traces',
        fault: {
          kind,
          host: broken,
          after: hours * hour + (1 + Math.floor(random() * 4)) * minute,
        },
      },
    );
    if (way === 'topology') {
      await house.drawTopology();
    }
    await house.pass(hours * hour);
    await watch(house, way, kind);
    const incident = await house.fired('suffers', way === 'topology' ? 1 : undefined);
    const report = await house.report(incident);
    const told = [report.root_cause?.indicator?.name, report.root_cause?.text].join(' ');
    return {
      seed,
      way,
      kind,
      host: broken,
      steps: report.propagation.length,
      right:
        report.root_cause?.node.id === `device:${house.devices.get(broken)!.id}` &&
        shows[kind].test(told),
      verdict: report.verdict ?? '',
      confidence: report.confidence?.value ?? 0,
      seconds: report.usage.seconds,
      summary: report.summary.slice(0, 140),
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

/**
 * Creates a rule on the host or the service that is the entry point, which is never the one that
 * breaks.
 */
async function watch(house: FedHouse, way: (typeof ways)[number], kind: FaultKind): Promise<void> {
  const usual = {
    rule_key: 'suffers',
    name: 'Suffers',
    source_type: 'svc_builtin',
    join_mode: 'all',
    severity: 'critical',
  };
  const service = house.application.serviceOf(1);
  const rule =
    way === 'topology'
      ? {
          kind: 'metric_raw',
          scope_type: 'host',
          conditions: [{ expr: 'node_open_fds_percent > 15', for: '1m' }],
        }
      : kind === 'disk'
        ? {
            kind: 'trace_error_rate',
            scope_type: 'global',
            conditions: [{ service, above_percent: 10, window: '5m' }],
          }
        : {
            kind: 'trace_latency',
            scope_type: 'global',
            conditions: [
              {
                service,
                percentile: 95,
                above_ms: 1.5 * (await usualMs(house, service)),
                window: '5m',
              },
            ],
          };
  await house.json('/api/v1/alert-rules', {
    method: 'POST',
    body: JSON.stringify({ ...usual, ...rule }),
  });
}

async function usualMs(house: FedHouse, service: string): Promise<number> {
  const query = `histogram_quantile(0.95, sum by (le) (rate(traces_spanmetrics_latency_bucket{service="${service}"}[5m])))`;
  const at = house.clock.now() / 1_000;
  const { data } = await house.json<{ data: { result: { value: [number, string] }[] } }>(
    `/prometheus/api/v1/query?time=${at}&query=${encodeURIComponent(query)}`,
  );
  return Math.round(1_000 * Number(data.result[0]?.value[1]));
}
