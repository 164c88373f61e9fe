import {
  type Clock,
  type HealthAnswer,
  type HealthReport,
  type MaybePromise,
  messageOf,
  withDeadline,
} from '../sdk/index.ts';
import { redactText } from './redact.ts';

/** One question about the service, as plugins and core contribute it. */
export interface HealthProbe {
  readonly label: string;
  /** Plugin that contributes it. */
  readonly plugin?: string;
  readonly probe: () => MaybePromise<HealthReport>;
}

interface HealthOptions {
  /** The checks of this moment. */
  readonly checks: () => Iterable<HealthProbe>;
  readonly clock: Clock;
  /** Time limit of one probe; default 2 s. */
  readonly deadlineMs?: number;
}

export interface CheckResult extends HealthAnswer {
  readonly degraded: boolean;
}

export interface HealthSummary {
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}

/** Time for which a probe may be late before it counts as dead. */
const trustedMs = 60_000;

/** Asks every check at once; the service is well when all of them say so in time. */
export class HealthChecks {
  readonly #options: HealthOptions;
  readonly #answeredAt = new WeakMap<HealthProbe['probe'], number>();
  /** Answers still awaited, so that asking often does not pile up calls of a probe that hangs. */
  readonly #awaited = new WeakMap<HealthProbe['probe'], Promise<HealthReport>>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  async ask(): Promise<HealthSummary> {
    const checks = await Promise.all(
      [...this.#options.checks()].map((check) => this.#check(check)),
    );
    return { ok: checks.every(({ ok }) => ok), checks };
  }

  async #check({ label, plugin, probe }: HealthProbe): Promise<CheckResult> {
    const { clock, deadlineMs = 2_000 } = this.#options;
    const began = clock.monotonic();
    const late = (): HealthReport => ({
      ok: this.#isTrusted(probe, began),
      degraded: true,
      detail: `no answer within ${deadlineMs} ms`,
    });
    const report = await withDeadline(this.#answerOf(probe), deadlineMs, late);
    const detail = report.detail === undefined ? undefined : redactText(String(report.detail));
    return {
      label,
      ...(plugin !== undefined && { plugin }),
      ok: report.ok,
      degraded: report.degraded === true,
      detail,
      ms: Math.round(clock.monotonic() - began),
    };
  }

  /** Returns whether a probe answered recently, so it is only busy. */
  #isTrusted(probe: HealthProbe['probe'], now: number): boolean {
    const answeredAt = this.#answeredAt.get(probe) ?? now;
    this.#answeredAt.set(probe, answeredAt);
    return now - answeredAt < trustedMs;
  }

  #answerOf(probe: HealthProbe['probe']): Promise<HealthReport> {
    let answer = this.#awaited.get(probe);
    if (!answer) {
      answer = Promise.resolve()
        .then(probe)
        .then((report) =>
          typeof report?.ok === 'boolean'
            ? report
            : { ok: false, detail: 'the probe returned no result' },
        )
        .catch((error: unknown) => ({ ok: false, detail: messageOf(error) }))
        .finally(() => {
          this.#awaited.delete(probe);
          this.#answeredAt.set(probe, this.#options.clock.monotonic());
        });
      this.#awaited.set(probe, answer);
    }
    return answer;
  }
}
