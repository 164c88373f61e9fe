import { figure } from '../text/format.ts';

/** Share of an exhaustible resource from which on it needs attention. */
const high = 75;
const full = 90;

const toneOf = (value: number | undefined): string =>
  value === undefined || value < high ? '' : value < full ? 'warning' : 'critical';

/** A share as a figure and as a bar under it, so that a column is read by its shape. */
export function Share({ value }: { readonly value: number | undefined }) {
  return (
    <span class={`share ${toneOf(value)}`}>
      {figure(value, 'percent')}
      <i style={{ width: `${Math.max(0, Math.min(100, value ?? 0))}%` }} />
    </span>
  );
}
