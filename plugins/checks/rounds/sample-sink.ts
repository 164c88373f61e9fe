import type { MetricsIngest, SampleRow } from 'svc/contracts/metricsdb';
import { type Clock, type Logger, messageOf, type Handle } from 'svc/sdk';

export interface SampleSinkParts {
  readonly ingest: Handle<MetricsIngest>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where samples of checks go, as long as there is a store of metrics. */
export class SampleSink {
  readonly #parts: SampleSinkParts;

  constructor(parts: SampleSinkParts) {
    this.#parts = parts;
  }

  async write(rows: readonly SampleRow[]): Promise<void> {
    const { ingest } = this.#parts;
    await (ingest.available && ingest.get().write(rows));
  }

  /** Ends the series of something that is gone, so that no rule goes on firing. */
  async end(metrics: string, label: 'check' | 'objective', name: string): Promise<void> {
    const { ingest, clock, log } = this.#parts;
    try {
      await (ingest.available &&
        ingest.get().end(
          [
            { name: '__name__', op: '=~', value: metrics },
            { name: label, op: '=', value: name },
          ],
          clock.now(),
        ));
    } catch (error) {
      // They end by themselves, five minutes after the last sample.
      log.debug({ [label]: name, cause: messageOf(error) }, 'failed to end check series');
    }
  }
}
