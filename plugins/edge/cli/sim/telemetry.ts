import { Application, type Served } from './application.ts';
import type { SimulatedHost } from './host.ts';
import { logPush } from './log-lines.ts';
import type { SimOptions } from './options.ts';
import type { Push } from './push.ts';
import type { Random } from 'svc/seeded';
import { Vitals } from './vitals.ts';

/** One push, and what the manager has when it took it. */
export interface Parcel {
  readonly push: Push;
  readonly samples?: number;
  readonly lines?: number;
  readonly spans?: number;
}

const pastStepMs = 60_000;
const pastPushMs = 600_000;

type Told = Pick<
  SimOptions,
  'seed' | 'count' | 'fault' | 'intervalMs' | 'metrics' | 'logsPerSecond' | 'requestsPerMinute'
>;

/** All that a simulated host has to tell, in the forms in which agents tell it. */
export class Telemetry {
  readonly vitals: Vitals;
  readonly #host: SimulatedHost;
  readonly #random: Random;
  readonly #options: Told;
  readonly #application: Application | undefined;
  #toldTo: number | undefined;
  #linesLeft = 0;

  constructor(host: SimulatedHost, random: Random, options: Told, startedAt: number) {
    const { fault, requestsPerMinute } = options;
    const broken = fault && { ...fault, from: startedAt + fault.afterMs };
    const application =
      requestsPerMinute > 0 ? new Application(options, host.number, broken) : undefined;
    this.#host = host;
    this.#random = random;
    this.#options = options;
    this.#application = application;
    this.vitals = new Vitals(host, random, {
      fault: fault?.host === host.number ? broken : undefined,
      ...(application && { strain: (now: number) => application.strain(host.number, now) }),
    });
  }

  /** Returns the data since the last call: current measurements, and what happened in between. */
  upTo(now: number, { measures = true }: { readonly measures?: boolean } = {}): readonly Parcel[] {
    const since = this.#toldTo ?? now - this.#options.intervalMs;
    this.#toldTo = now;
    return [...(measures ? [this.#measured(now)] : []), ...this.#happened(since, now)];
  }

  /**
   * Yields the data that it would have sent before it connected, minute by minute; logs and traces
   * in fewer pushes.
   */
  *past(from: number, to: number): Generator<Parcel> {
    this.#toldTo = to;
    for (let at = from; at < to; at += pastStepMs) {
      yield this.#measured(at);
    }
    for (let at = from; at < to; at += pastPushMs) {
      yield* this.#happened(at, Math.min(at + pastPushMs, to));
    }
  }

  #measured(now: number): Parcel {
    const { body, samples } = this.vitals.write(now, this.#options.metrics);
    return {
      push: { to: '/api/v1/write', type: 'application/x-protobuf', encoding: 'snappy', body },
      samples,
    };
  }

  #happened(since: number, now: number): readonly Parcel[] {
    this.#linesLeft += (this.#options.logsPerSecond * (now - since)) / 1_000;
    const count = Math.floor(this.#linesLeft);
    this.#linesLeft -= count;
    const served = this.#application?.servedBy(this.#host.number, since, now) ?? [];
    const failures = served.flatMap(({ start, ms, failure }) =>
      failure === undefined ? [] : [{ at: start + ms, text: failure }],
    );
    const lines = count + (this.#options.logsPerSecond > 0 ? failures.length : 0);
    const parcels: Parcel[] = [];
    if (lines > 0) {
      const body = logPush(this.#host, this.#random, {
        from: since,
        to: now,
        count,
        failures: lines > count ? failures : [],
      });
      parcels.push({ push: { to: '/loki/api/v1/push', type: 'application/json', body }, lines });
    }
    if (served.length > 0) {
      const body = spanExport(this.#application!.serviceOf(this.#host.number), served);
      parcels.push({
        push: { to: '/v1/traces', type: 'application/json', body },
        spans: served.length,
      });
    }
    return parcels;
  }
}

const server = 2;
const ok = 1;
const error = 2;
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1_000)) * 1_000n);

/** Builds an OTLP export in JSON of what a service has served. */
const spanExport = (service: string, served: readonly Served[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
          scopeSpans: [{ scope: { name: 'edge-sim' }, spans: served.map(spanOf) }],
        },
      ],
    }),
  );

const spanOf = ({ traceId, spanId, parentId, start, ms, failure }: Served): object => ({
  traceId,
  spanId,
  parentSpanId: parentId,
  name: 'serve',
  kind: server,
  startTimeUnixNano: nanoseconds(start),
  endTimeUnixNano: nanoseconds(start + ms),
  status: failure === undefined ? { code: ok } : { code: error, message: failure },
});
