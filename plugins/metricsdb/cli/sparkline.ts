const steps = '▁▂▃▄▅▆▇█';

/**
 * Draws values as a line of one character each, with gaps for missing ones. A constant series is
 * drawn in the middle.
 */
export function sparkline(values: readonly (number | undefined)[]): string {
  const known = values.filter(
    (value) => value !== undefined && Number.isFinite(value),
  ) as readonly number[];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return values
    .map((value) => {
      if (value === undefined || !Number.isFinite(value)) {
        return ' ';
      }
      return high === low
        ? steps[3]!
        : steps[
            Math.min(steps.length - 1, Math.floor(((value - low) / (high - low)) * steps.length))
          ]!;
    })
    .join('');
}

/** Formats a number as briefly as people write it. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value) || value === 0) {
    return String(value);
  }
  const size = Math.abs(value);
  return size >= 1e15 || size < 1e-4
    ? value.toExponential(3)
    : String(Number(value.toPrecision(size >= 1e6 ? 10 : 6)));
}
