import type { Reading } from 'svc/check';
import type { SampleRow } from 'svc/contracts/metricsdb';

import type { Check } from '../check/check.ts';
import type { Cause } from '../standing/cause.ts';
import type { Vote } from './verdict.ts';

/** Returns the samples of one round, under the names that blackbox_exporter uses. */
export const readingRows = (
  { name, definition }: Pick<Check, 'name' | 'definition'>,
  votes: readonly Vote[],
): readonly SampleRow[] =>
  votes.flatMap(({ place, at, reading }) =>
    reading === undefined
      ? []
      : samplesOf(reading, definition.kind).map(({ metric, labels, value }) => ({
          labels: {
            __name__: metric,
            job: 'checks',
            instance: definition.target,
            check: name,
            place,
            ...labels,
          },
          time: at,
          value,
        })),
  );

/** Returns the verdict over all places; a check that was not probed yet has none. */
export function verdictRows(
  { name, definition, state }: Pick<Check, 'name' | 'definition' | 'state'>,
  time: number,
): readonly SampleRow[] {
  if (state === 'waiting') {
    return [];
  }
  const labels = { check: name, kind: definition.kind };
  const isStale = state === 'stale';
  return [
    // Stale is neither up nor down: the series ends until it is one of them.
    {
      labels: { __name__: 'svc_check_up', ...labels },
      time,
      value: state === 'up' ? 1 : 0,
      ...(isStale && { stale: true }),
    },
    { labels: { __name__: 'svc_check_stale', ...labels }, time, value: isStale ? 1 : 0 },
  ];
}

interface Sample {
  readonly metric: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

function samplesOf({ success, facts }: Reading, kind: string): readonly Sample[] {
  const { certificate, phases } = facts;
  const seconds = (ms: number): number => ms / 1_000;
  const samples: (Sample | undefined)[] = [
    { metric: 'probe_success', value: success ? 1 : 0 },
    { metric: 'probe_duration_seconds', value: seconds(facts.took_ms) },
    some('probe_dns_lookup_time_seconds', phases.resolve, seconds),
    facts.address === undefined
      ? undefined
      : { metric: 'probe_ip_protocol', value: facts.address.includes(':') ? 6 : 4 },
    ...statusSamples(kind, facts),
    some('probe_http_version', facts.http_version && Number(facts.http_version)),
    some('probe_http_uncompressed_body_length', facts.body_bytes),
    kind === 'http' && facts.status !== undefined
      ? { metric: 'probe_http_content_length', value: facts.content_length ?? -1 }
      : undefined,
    some('probe_http_redirects', facts.redirects),
    kind === 'http'
      ? { metric: 'probe_http_ssl', value: certificate === undefined ? 0 : 1 }
      : undefined,
    kind === 'grpc'
      ? { metric: 'probe_grpc_ssl', value: certificate === undefined ? 0 : 1 }
      : undefined,
    some('probe_ssl_earliest_cert_expiry', certificate?.expires_at, seconds),
    some('probe_domain_expiry', facts.domain_expires_at, seconds),
    some('probe_dns_answer_rrs', facts.answers?.length),
  ];
  const phased = phasesOf[kind];
  return [
    ...samples.filter((sample) => sample !== undefined),
    ...(facts.measured ?? []).map(({ label, value, unit }) => ({
      metric: 'probe_perfdata',
      labels: { label, ...(unit !== '' && { unit }) },
      value,
    })),
    ...(facts.steps ?? []).flatMap(({ took_ms: took }, index) =>
      took === null
        ? []
        : [
            {
              metric: 'probe_browser_step_duration_seconds',
              labels: { step: String(index + 1) },
              value: seconds(took),
            },
          ],
    ),
    ...(phased === undefined
      ? []
      : Object.entries(phases).map(([phase, ms]) => ({
          metric: phased,
          labels: { phase },
          value: seconds(ms),
        }))),
  ];
}

/** The status as the exporter names it for HTTP and gRPC, and under one name of its own for the others. */
function statusSamples(kind: string, { status }: Reading['facts']): readonly Sample[] {
  if (status === undefined) {
    return [];
  }
  const metric =
    kind === 'http' || kind === 'browser'
      ? 'probe_http_status_code'
      : kind === 'grpc'
        ? 'probe_grpc_status_code'
        : 'probe_status_code';
  return [{ metric, value: status }];
}

const phasesOf: Readonly<Record<string, string>> = {
  http: 'probe_http_duration_seconds',
  dns: 'probe_dns_duration_seconds',
  ping: 'probe_icmp_duration_seconds',
  tcp: 'probe_tcp_duration_seconds',
  tls: 'probe_tcp_duration_seconds',
  smtp: 'probe_tcp_duration_seconds',
  postgres: 'probe_tcp_duration_seconds',
  mysql: 'probe_tcp_duration_seconds',
  redis: 'probe_tcp_duration_seconds',
  mqtt: 'probe_tcp_duration_seconds',
  websocket: 'probe_tcp_duration_seconds',
  grpc: 'probe_grpc_duration_seconds',
};

const some = (
  metric: string,
  value: number | '' | undefined,
  convert: (value: number) => number = (same) => same,
): Sample | undefined =>
  typeof value === 'number' && Number.isFinite(value)
    ? { metric, value: convert(value) }
    : undefined;

/**
 * Returns the series that the rules ask, which exists as long as the alert of a check is held back. Its value is since
 * when the cause is down, in seconds since the epoch, so that it changes with each new one.
 */
export const mutedRow = (
  { name }: Pick<Check, 'name'>,
  cause: Cause | undefined,
  time: number,
): SampleRow => ({
  labels: { __name__: 'svc_check_muted', check: name },
  time,
  value: (cause?.since ?? time) / 1_000,
  ...(cause === undefined && { stale: true }),
});
