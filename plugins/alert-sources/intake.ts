import type { OthersAlerts } from 'svc/contracts/alert';
import { SlidingCounter } from 'svc/flow';
import { isFresh, sameSecret, signed } from 'svc/im';
import type { Clock, Counter, Handle, Logger, RequestHeaders } from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import { readPush } from './payload.ts';
import type { Taken } from './schema.ts';
import type { SourceRow } from './source-store.ts';
import { sourceOf, type Sources } from './sources.ts';

export interface IntakeParts {
  readonly sources: Sources;
  readonly alerts: Handle<OthersAlerts>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly taken: Counter;
}

export interface Arrived {
  readonly headers: RequestHeaders;
  readonly body: Uint8Array;
}

const pushesPerMinute = 600;
const signatureHeader = 'x-grafana-alerting-signature';
const timestampHeader = 'x-grafana-alerting-timestamp';

/** Pushes of other systems, from their proof to the disk. */
export class Intake {
  readonly #parts: IntakeParts;
  readonly #pace: SlidingCounter;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#pace = new SlidingCounter({
      limit: pushesPerMinute,
      windowMs: 60_000,
      clock: parts.clock,
      maxKeys: 1_000,
    });
  }

  /** Throws unauthorized, the same for whatever is wrong, unless the address and the signature are right. */
  async byAddress(token: string, arrived: Arrived): Promise<Static<typeof Taken>> {
    const { sources } = this.#parts;
    const source = await sources.byToken(token);
    const secret = source && sources.signingSecret(source);
    if (source === undefined || (secret !== undefined && !this.#isSigned(secret, arrived))) {
      throw errors.unproven();
    }
    return await this.take(source, arrived.body);
  }

  /** Once it is on disk. */
  async take(source: SourceRow, body: Uint8Array): Promise<Static<typeof Taken>> {
    const { alerts, log, taken } = this.#parts;
    const waitMs = this.#pace.waitMs(source.key);
    if (waitMs > 0 || !alerts.available) {
      // Both systems come back after a 503, and after nothing else.
      const why =
        waitMs > 0
          ? `more than ${pushesPerMinute} pushes per minute`
          : 'alerting is not running; enable the plugin alert';
      throw errors.not_taken(
        { why },
        { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) },
      );
    }
    this.#pace.add(source.key);
    const push = readPush(body, source.default_severity);
    const { left_out } = await alerts.get().take(sourceOf(source), push.alerts);
    const firing = push.alerts.filter(({ fires }) => fires).length;
    const counts = {
      firing,
      resolved: push.alerts.length - firing,
      skipped: push.skipped,
      left_out,
    };
    Object.entries(counts).forEach(([result, count]) =>
      taken.add(count, { source: source.key, result }),
    );
    if (push.skipped + left_out > 0) {
      log.warn(
        { event: 'alert-source.incomplete', source: source.key, ...counts },
        'alerts from a source rejected; check their labels and how many there are',
      );
    }
    return counts;
  }

  /**
   * Verifies the signature as Grafana computes it: over the time, a colon and the body. The time
   * must be within five minutes, so that an intercepted request cannot be replayed later.
   */
  #isSigned(secret: string, { headers, body }: Arrived): boolean {
    const [time, signature] = [
      String(headers[timestampHeader] ?? ''),
      String(headers[signatureHeader] ?? ''),
    ];
    const own = signed(secret, Buffer.concat([Buffer.from(`${time}:`), body]), 'hex');
    return (
      sameSecret(signature.toLowerCase(), own) &&
      isFresh(Number(time) * 1_000, this.#parts.clock.now())
    );
  }
}
