import type { LabelRecord } from 'svc/contracts/metricsdb';

/** The same for the same labels, in whatever order they come. */
export const labelKey = (labels: LabelRecord): string =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
