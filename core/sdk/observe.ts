import type { MessageCode } from './errors.ts';

/** Values of a line; `event` names its sentence for good, whatever its wording. */
export interface LogFields {
  readonly event?: MessageCode;
  readonly [field: string]: unknown;
}

/** Structured and redacted at one choke point; fields first, as a sentence last. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface Counter {
  add(amount?: number, labels?: Readonly<Record<string, string>>): void;
}

export interface Gauge {
  set(value: number, labels?: Readonly<Record<string, string>>): void;
}

export interface Histogram {
  observe(value: number, labels?: Readonly<Record<string, string>>): void;
}

/** Self metrics of one plugin; names get the `svc_` prefix and leave with the scope. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(name: string, help: string, labels?: readonly string[]): Gauge;
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly string[],
  ): Histogram;
}

export interface HealthReport {
  readonly ok: boolean;
  /** True if it is running with reduced function: `detail` says what is missing. */
  readonly degraded?: boolean;
  readonly detail?: string;
}
