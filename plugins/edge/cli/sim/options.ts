import { type Call, usageFailure } from 'svc/cli';

/** Options of a simulated fleet. */
export interface SimOptions {
  readonly manager: URL;
  /** Enrolment token; needed for hosts that have no keys yet. */
  readonly token: string | undefined;
  readonly count: number;
  /** Seconds over which they first connect. */
  readonly ramp: number;
  readonly seed: string;
  /** Chance of a fault, of each interval and each answer of each host. */
  readonly failProb: number;
  readonly intervalMs: number;
  /**
   * Values in each push: the thirteen of a host snapshot, or about forty as an agent sends them.
   */
  readonly metrics: 'snapshot' | 'full';
  /** Lines per second of each host. */
  readonly logsPerSecond: number;
  /** Requests per minute of each application of eight hosts, traced from host to host. */
  readonly requestsPerMinute: number;
  /** Span before they connected for which hosts report data at first. */
  readonly pastMs?: number;
  /** Fault of one host, with its start in milliseconds after that of the simulation. */
  readonly fault?:
    | { readonly kind: FaultKind; readonly host: number; readonly afterMs: number }
    | undefined;
}

/** A program that never sleeps, one that never gives memory back, a disk that fills, and one that is used up. */
export const faultKinds = ['cpu', 'memory', 'disk', 'io'] as const;
export type FaultKind = (typeof faultKinds)[number];

const mostHosts = 50_000;

export function simOptions(call: Call): SimOptions {
  const number = (name: string, usual: number | undefined, least: number, most: number): number => {
    const text = call.value(name);
    const value = text === undefined ? usual : Number(text);
    if (value === undefined || !(value >= least && value <= most)) {
      throw usageFailure(`--${name} must be a number from ${least} to ${most}`);
    }
    return value;
  };
  const count = number('count', 10, 1, mostHosts);
  if (!Number.isInteger(count)) {
    throw usageFailure('--count must be a whole number');
  }
  const metrics = call.value('metrics') ?? 'full';
  if (metrics !== 'snapshot' && metrics !== 'full') {
    throw usageFailure('--metrics must be snapshot or full');
  }
  return {
    metrics,
    manager: managerOf(call.value('manager')),
    token: call.value('token') ?? call.environment['SVC_EDGE_TOKEN'],
    count,
    ramp: number('ramp', Math.ceil(count / 100), 0, 86_400),
    seed: call.value('seed') ?? '1',
    failProb: number('fail-prob', 0, 0, 1),
    intervalMs: 1_000 * number('interval', 15, 0.1, 3_600),
    logsPerSecond: number('logs-per-second', 0, 0, 1_000),
    requestsPerMinute: number('requests-per-minute', 0, 0, 6_000),
    pastMs: 1_000 * number('past', 0, 0, 7 * 86_400),
    fault: faultOf(call.value('fault'), 1_000 * number('fault-after', 0, 0, 86_400)),
  };
}

/** `cpu:3` */
function faultOf(text: string | undefined, afterMs: number): SimOptions['fault'] {
  if (text === undefined) {
    return undefined;
  }
  const [name, host = ''] = text.split(':', 2);
  const kind = faultKinds.find((one) => one === name);
  if (kind === undefined || !/^[1-9]\d{0,6}$/.test(host)) {
    throw usageFailure(
      `--fault must be one of ${faultKinds.join(', ')} with the number of a host, such as cpu:3`,
    );
  }
  return { kind, host: Number(host), afterMs };
}

function managerOf(text: string | undefined): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageFailure(
      '--manager must be the address of the manager, such as https://svc.example.org',
    );
  }
  return url;
}
