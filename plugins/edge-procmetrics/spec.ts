export interface GroupSpec {
  readonly name: string;
  readonly comm?: string;
  readonly cmdline?: string;
}

/** The `spec` of edge.json, checked, defaults filled in. */
export interface ProcessSpec {
  readonly interval: string;
  readonly job: string;
  readonly instance: string;
  readonly groups: readonly GroupSpec[];
  readonly others: 'comm' | 'none';
  readonly max_groups: number;
  readonly files: boolean;
  readonly io: boolean;
  readonly kernel_threads: boolean;
}
