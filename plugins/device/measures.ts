import type { MetricsQueries } from 'svc/contracts/metricsdb';
import type { Clock, Handle } from 'svc/sdk';

import { errors } from './errors.ts';

export type Values = ReadonlyMap<number, number>;

/** Time for which values serve further searches: agents report every 15 s. */
const freshMs = 5_000;
const maxKept = 50;
const timeoutMs = 10_000;

/** Values of a metric by device, and firing incidents: of all devices at once, kept for a moment. */
export class Measures {
  readonly #metrics: Handle<MetricsQueries>;
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly at: number; readonly values: Promise<Values> }>();

  constructor(metrics: Handle<MetricsQueries>, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  get isAvailable(): boolean {
    return this.#metrics.available;
  }

  /** The largest value of a metric on each device. */
  of(metric: string): Promise<Values> {
    return this.#ask(`max by (device_id) ({__name__=${JSON.stringify(metric)},device_id!=""})`);
  }

  /** Number of firing alerts on each device; of one severity, if it is named. */
  firing(severity?: string): Promise<Values> {
    const also = severity === undefined ? '' : `,severity=${JSON.stringify(severity)}`;
    return this.#ask(`count by (device_id) (ALERTS{alertstate="firing",device_id!=""${also}})`);
  }

  #ask(query: string): Promise<Values> {
    const now = this.#clock.monotonic();
    const kept = this.#kept.get(query);
    if (kept !== undefined && now - kept.at < freshMs) {
      return kept.values;
    }
    if (this.#kept.size >= maxKept) {
      this.#kept.clear();
    }
    const values = this.#read(query);
    this.#kept.set(query, { at: now, values });
    // A failed question is asked again.
    values.catch(() => this.#kept.get(query)?.values === values && this.#kept.delete(query));
    return values;
  }

  async #read(query: string): Promise<Values> {
    if (!this.#metrics.available) {
      throw errors.search_without_metrics();
    }
    const answer = await this.#metrics.get().instant(query, this.#clock.now(), { timeoutMs });
    return new Map(
      answer.type === 'vector'
        ? answer.labels.map((labels, at) => [Number(labels['device_id']), answer.values[at]!])
        : [],
    );
  }
}
