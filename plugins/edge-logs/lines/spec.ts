/** The `spec` of `edge.json`, defaults filled in. */
export interface LogSpec {
  readonly files: readonly FileGroupSpec[];
  readonly max_line_bytes: number;
  readonly max_files: number;
  readonly rate_limit_bytes: number;
  readonly rescan_seconds: number;
  readonly on_broken_checkpoint: 'end' | 'beginning' | 'skip';
  readonly journal: JournalSpec;
}

export interface FileGroupSpec {
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  readonly job: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly multiline_start: string;
  readonly multiline_wait_ms: number;
}

export interface JournalSpec {
  readonly enabled: boolean;
  readonly job: string;
  readonly units: readonly string[];
  readonly priority: string;
  readonly directory: string;
}
