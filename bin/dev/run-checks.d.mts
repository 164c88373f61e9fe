export interface CheckResult {
  readonly name: string;
  readonly code: number | null;
  readonly output: string;
  readonly ms: number;
  readonly fix?: string;
}
export function runChecks(
  root: string,
  options: { readonly all: boolean; readonly cache: string },
): Promise<CheckResult[]>;
