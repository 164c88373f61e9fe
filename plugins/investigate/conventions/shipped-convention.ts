import type { Convention } from 'svc/contracts/investigate';

/** Convention that ships with the product: its patterns are literals. */
export type ShippedConvention = Omit<Convention, 'metrics' | 'except'> & {
  readonly metrics: RegExp;
  readonly except?: RegExp;
};
