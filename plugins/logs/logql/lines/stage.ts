import type { WorkingLine } from './working-line.ts';

/** Does its part with the line; false when the line is not wanted. */
export type StageRun = (work: WorkingLine) => boolean;

/** Context of a stage besides the line. */
export interface StageContext {
  /** Labels that later stages may read; undefined if any. */
  readonly wanted: ReadonlySet<string> | undefined;
  /** Milliseconds since 1970, for templates. */
  readonly now: () => number;
}
