/** A heartbeat as the API shows it. */
export interface Heartbeat {
  readonly name: string;
  readonly period_s: number | null;
  readonly cron: string | null;
  readonly paused: boolean;
  readonly state: 'waiting' | 'up' | 'running' | 'late' | 'down' | 'paused';
  readonly cause: string | null;
  readonly expected_at: string | null;
  readonly last_ping_at: string | null;
}

/** Report of a job. */
export interface Ping {
  readonly at: string;
  readonly kind: 'success' | 'start' | 'fail';
  readonly exit_code: number | null;
  readonly duration_ms: number | null;
  readonly log: string | null;
}
