import type { InstantAnswer, LabelRecord } from 'svc/contracts/metricsdb';
import type { NativeHistogram } from 'svc/native-histogram';

/** One series of an answer to an instant query. */
export interface Sample {
  readonly labels: LabelRecord;
  readonly value: number;
  /** Histogram instead of a value; only series of rule tests have one. */
  readonly histogram?: NativeHistogram;
}

/** A scalar is a vector of one value without labels. */
export function samplesOf(answer: InstantAnswer): readonly Sample[] {
  switch (answer.type) {
    case 'scalar':
      return [{ labels: {}, value: answer.value }];
    case 'vector':
      return answer.labels.map((labels, index) => {
        const histogram = answer.histograms?.[index];
        return { labels, value: answer.values[index]!, ...(histogram && { histogram }) };
      });
    case 'matrix':
    case 'string':
      throw new Error('rule result is not a vector or scalar');
  }
}
