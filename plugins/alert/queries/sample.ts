import type { LabelRecord } from 'svc/contracts/metricsdb';
import type { NativeHistogram } from 'svc/native-histogram';

/** One series of an answer to an instant query. */
export interface Sample {
  readonly labels: LabelRecord;
  readonly value: number;
  /** Stands instead of the value; only series of rule tests have one. */
  readonly histogram?: NativeHistogram;
}
