import type uPlot from 'uplot';

/** Settings of a value axis besides its unit. */
export interface Axis {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** A value that has to be on the axis, whatever the lines show. */
  readonly cover?: number | undefined;
  /** Base of a logarithmic axis. */
  readonly log?: number | undefined;
  /** Marks at powers of two, as bytes are counted. */
  readonly binary?: boolean | undefined;
  readonly label?: string | undefined;
  /** Writes a value of the left axis, or of the right one. */
  readonly format?: ((value: number, right: boolean) => string) | undefined;
  /** Lines at values, from which on something is bad. */
  readonly limits?: readonly { readonly value: number; readonly color: string }[] | undefined;
}

/** Returns the bounds of an axis around its values: from zero, with some room above. */
export function rangeOf(
  low: number | null,
  high: number | null,
  top: number | undefined,
): [number, number] {
  const most = Math.max(high ?? 0, top ?? 0);
  const least = Math.min(low ?? 0, 0);
  return most === least
    ? [least, least + 1]
    : [least, top !== undefined && most === top ? top : most + (most - least) * 0.08];
}

/** A scale that follows the values where it is not bound. */
export const scaleOf = ({ min, max, cover, log }: Axis, top: number | undefined): uPlot.Scale =>
  log === undefined
    ? {
        range: (_plot, low, high) => {
          const [least, most] =
            cover === undefined
              ? rangeOf(low, high, top)
              : rangeOf(Math.min(low ?? cover, cover), Math.max(high ?? cover, cover), top);
          return [min ?? least, Math.max(max ?? most, (min ?? least) + 1e-9)];
        },
      }
    : { distr: 3, log: log === 2 ? 2 : 10 };
