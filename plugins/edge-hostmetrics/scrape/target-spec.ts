/** One target of the `spec` of edge.json. */
export interface TargetSpec {
  readonly job: string;
  readonly url: string;
  readonly interval: string;
  readonly timeout: string;
  readonly max_series: number;
  readonly max_bytes: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** `15s` and `2m`, which the schema has let through. */
export const milliseconds = (duration: string): number =>
  Number(duration.slice(0, -1)) * (duration.endsWith('m') ? 60_000 : 1_000);
