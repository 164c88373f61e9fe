import {
  type Clock,
  type Counter,
  type HealthProbe,
  type HealthReport,
  type Logger,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
} from 'svc/sdk';

export interface OwnReportParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly health: HealthProbe;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  /** Empty: nobody is told. */
  readonly address: () => string;
  readonly intervalMs: () => number;
  readonly reports: Counter;
}

const answerMs = 10_000;
/** A report that did not arrive is repeated earlier than the next one is due: the other side waits for it. */
const repeatMs = 15_000;
const maxReasonBytes = 10_000;

/**
 * Reports to an address outside of this machine that svc works, so that somebody else notices when
 * it no longer does. While it runs and is not ready, it reports a failure with the reasons.
 */
export class OwnReport {
  readonly #parts: OwnReportParts;
  #dueAt = 0;
  #told = '';
  #failure: string | undefined;

  constructor(parts: OwnReportParts) {
    this.#parts = parts;
  }

  /** Reports if it is time to. */
  async tick(): Promise<void> {
    const { clock, address, intervalMs } = this.#parts;
    const [to, now] = [address(), clock.monotonic()];
    if (to !== this.#told) {
      // An address that was just set is tried at once; what failed was about another one.
      [this.#told, this.#failure, this.#dueAt] = [to, undefined, now];
    }
    if (to === '' || now < this.#dueAt) {
      return;
    }
    const arrived = await this.#report(to);
    this.#dueAt = now + (arrived ? intervalMs() : Math.min(repeatMs, intervalMs()));
  }

  status(): HealthReport {
    return this.#failure === undefined
      ? { ok: true }
      : {
          ok: true,
          degraded: true,
          detail: `the address in heartbeats.own_address was not reached: ${this.#failure}`,
        };
  }

  async #report(to: string): Promise<boolean> {
    const { fetch, log, reports } = this.#parts;
    try {
      const problems = await this.#problems();
      const { status } = await fetch(problems === '' ? to : failureAddressOf(to), {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: problems,
        timeoutMs: answerMs,
        maxBytes: 64 * 1024,
        redirects: 3,
      });
      if (status >= 300) {
        throw new Error(`it responded with status ${status}`);
      }
      reports.add(1, { result: 'delivered' });
      if (this.#failure !== undefined) {
        log.info({ event: 'heartbeats.own_report_delivered' }, 'own heartbeat is delivered again');
        this.#failure = undefined;
      }
      return true;
    } catch (error) {
      reports.add(1, { result: 'failed' });
      if (this.#failure === undefined) {
        log.warn(
          { event: 'heartbeats.own_report_failed', cause: messageOf(error) },
          'failed to deliver the own heartbeat; retrying',
        );
      }
      this.#failure = messageOf(error);
      return false;
    }
  }

  /** Returns the failing checks of /readyz; empty if it is ready. */
  async #problems(): Promise<string> {
    const { ok, checks } = await this.#parts.health.check();
    return ok
      ? ''
      : checks
          .filter((check) => !check.ok)
          .map(({ plugin, label, detail }) => `${plugin ?? 'core'}: ${label}: ${detail ?? 'fails'}`)
          .join('\n')
          .slice(0, maxReasonBytes) || 'svc is not ready';
  }
}

/** Returns the address for a failure, which both kinds of receiver take below the address itself. */
function failureAddressOf(address: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/fail`;
  return url.href;
}
