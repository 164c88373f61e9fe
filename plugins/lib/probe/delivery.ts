import { isSvcError, type Logger, messageOf } from 'svc/sdk';
import type { WriteBody } from './metric-batch.ts';

/** A body on its way, as the uplink of an agent takes it. */
export interface MetricParcel {
  readonly signal: 'metrics';
  readonly path: string;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly body: Uint8Array;
  readonly items: number;
  readonly from: string;
}

export interface MetricShipping {
  ship(parcel: MetricParcel): Promise<void>;
}

/** Path and format of remote write. */
const remoteWrite = {
  path: '/api/v1/write',
  contentType: 'application/x-protobuf',
  contentEncoding: 'snappy',
} as const;

/**
 * Delivery of bodies to the uplink. A full buffer is no fault of this plugin: what does not fit is
 * lost, and that is reported once.
 */
export class Delivery {
  readonly #shipping: MetricShipping;
  readonly #from: string;
  readonly #log: Logger;
  #full = false;

  constructor(shipping: MetricShipping, from: string, log: Logger) {
    this.#shipping = shipping;
    this.#from = from;
    this.#log = log;
  }

  async send(bodies: readonly WriteBody[]): Promise<void> {
    for (const { body, samples } of bodies) {
      try {
        await this.#shipping.ship({
          signal: 'metrics',
          ...remoteWrite,
          body,
          items: samples,
          from: this.#from,
        });
        this.#full = false;
      } catch (error) {
        if (!isSvcError(error) || error.code !== 'unavailable') {
          throw error;
        }
        if (!this.#full) {
          this.#full = true;
          this.#log.warn(
            { event: 'probe.samples_dropped', samples, cause: messageOf(error) },
            'uplink buffer full; samples dropped',
          );
        }
      }
    }
  }
}
