import type { HostCheck } from 'svc/contracts/investigate';
import type { CheckResult, Missing, Period, Series } from 'svc/rca';

import type { Found, Gatherer } from '../fetch/gatherer.ts';
import { type Grid, metricsSource } from '../fetch/metrics-source.ts';
import { on } from '../fetch/signals.ts';
import { deviceNode } from '../fetch/symptom.ts';
import shipped from './host-checks.json' with { type: 'json' };

/** Checks that ship with the product, by name. */
export const shippedChecks = shipped as Readonly<Record<string, HostCheck>>;

const minuteMs = 60_000;
/** Time before the alert within which a complaint that ended is still relevant. */
const beforeMs = 30 * minuteMs;
/** Time without a sample after which a host that sent some counts as silent. */
const silentMs = 5 * minuteMs;

const compares: Readonly<Record<HostCheck['op'], (value: number, bound: number) => boolean>> = {
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '==': (value, bound) => value === bound,
};

export interface Checked {
  readonly devices: readonly string[];
  readonly window: Period;
  readonly firedAt: number;
  /** Measurements of the hosts, which show the silent ones. */
  readonly signals: readonly Series[];
}

/** Returns the query of a check for these devices. */
export const queryOf = ({ query }: HostCheck, devices: readonly string[]): string =>
  on(query.replaceAll('$devices', '$on'), 'device_id', devices);

/** Every check of every host, a query a check; a host that has none of its series is not good, only not checked. */
export async function checksOf(
  gatherer: Gatherer,
  checks: ReadonlyMap<string, HostCheck>,
  asked: Checked,
): Promise<readonly CheckResult[]> {
  if (asked.devices.length === 0) {
    return [];
  }
  const found = [...checks].map(async ([name, check]) => {
    const query = queryOf(check, asked.devices);
    const answer = await gatherer.ask({
      kind: 'check',
      source: metricsSource(),
      query,
      window: asked.window,
    });
    return answer === undefined ? [] : resultsOf(name, check, answer, asked);
  });
  return [...(await Promise.all(found)).flat(), ...silence(asked)];
}

/** Returns the worst result of one check for each host that has its series. */
export function resultsOf(
  name: string,
  check: HostCheck,
  { id, value }: Found,
  { devices, window, firedAt }: Omit<Checked, 'signals'>,
): readonly CheckResult[] {
  const grid = value as Grid;
  return devices.flatMap((device): readonly CheckResult[] => {
    const own = grid.series.filter(({ labels }) => labels['device_id'] === device);
    const complaints = own.flatMap((one) => complaintOf(check, one, { ...grid, to: window.to }));
    const worst = complaints.toSorted(
      (a, b) => Number(b.until >= firedAt) - Number(a.until >= firedAt) || a.since - b.since,
    )[0];
    if (worst === undefined) {
      return own.length === 0
        ? []
        : [
            {
              check: name,
              evidence: id,
              node: deviceNode(device),
              ok: true,
              interesting: false,
              message: `${check.title}: no`,
              details: {},
            },
          ];
    }
    const { labels, shown, since, until } = worst;
    const details = {
      value: shown,
      ...Object.fromEntries(Object.entries(labels).filter(([label]) => label !== 'device_id')),
      others: complaints.length - 1,
    };
    return [
      {
        check: name,
        evidence: id,
        node: deviceNode(device),
        ok: false,
        interesting: until >= firedAt - beforeMs,
        details,
        since,
        message: filled(check.message, { ...labels, value: String(Number(shown.toPrecision(4))) }),
      },
    ];
  });
}

interface Complaint {
  readonly labels: Readonly<Record<string, string>>;
  readonly shown: number;
  readonly since: number;
  readonly until: number;
}

/** The last stretch in which a series was bad for as long as it takes. */
function complaintOf(
  { op, value: bound, lasting = 1 }: HostCheck,
  { labels, values }: Grid['series'][number],
  { from, step_ms }: Pick<Grid, 'from' | 'step_ms'> & { readonly to: number },
): readonly Complaint[] {
  const isBad = (value: number | null): value is number =>
    value !== null && compares[op](value, bound);
  let last: Complaint | undefined;
  let start: number | undefined;
  values.forEach((value, at) => {
    start = isBad(value) ? (start ?? at) : undefined;
    if (isBad(value) && at - start! + 1 >= lasting) {
      last = { labels, shown: value, since: from + start! * step_ms, until: from + at * step_ms };
    }
  });
  return last === undefined ? [] : [last];
}

/** Words from labels are data: they are cut, and hold no control characters. */
const filled = (message: string, words: Readonly<Record<string, string>>): string =>
  message.replaceAll(/\$(\w+)/g, (_all, word: string) =>
    (words[word] ?? 'one').replaceAll(/\p{Cc}+/gu, ' ').slice(0, 80),
  );

/** Hosts that sent samples and have stopped: missing is not healthy. */
function silence({ devices, window, signals }: Checked): readonly CheckResult[] {
  return devices.flatMap((device) => {
    const own = signals.filter(({ node }) => node === deviceNode(device));
    const last = own.reduce((newest, series) => Math.max(newest, lastSample(series)), -Infinity);
    if (own.length === 0 || last === -Infinity) {
      return [];
    }
    const ok = window.to - last < silentMs;
    const message = ok
      ? 'sends data'
      : `has sent no data for ${Math.round((window.to - last) / minuteMs)} min`;
    return [
      {
        check: 'no_data',
        evidence: own[0]!.evidence,
        node: deviceNode(device),
        ok,
        interesting: !ok,
        message,
        details: {},
        ...(!ok && { since: last }),
      },
    ];
  });
}

const lastSample = ({ from, step_ms, values }: Series): number =>
  from + step_ms * values.findLastIndex((value) => value !== null);

/** Returns the hosts of which nothing at all is known. */
export const unheard = ({ devices, signals }: Checked): readonly Missing[] =>
  devices
    .filter(
      (device) =>
        !signals.some(
          (series) =>
            series.node === deviceNode(device) && series.values.some((value) => value !== null),
        ),
    )
    .map((device) => ({
      kind: 'metric',
      source: 'metrics',
      node: deviceNode(device),
      reason: 'absent',
      text: `there are no metrics of device ${device} in the window`,
    }));
