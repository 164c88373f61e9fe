import type { LabelRecord } from '../metricsdb/contract.ts';

/** The same for the same labels, in whatever order they come. */
export const labelKey = (labels: LabelRecord): string =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
