import type { PluginContext } from 'svc/sdk';

/** Limit of a store, whose it is, and how much of it is taken. */
export interface Reached {
  readonly labels: Readonly<Record<string, string>>;
  readonly used: number;
  readonly max: number;
}

/** Share of a limit from which it is shown. */
const shownFrom = 0.5;

/**
 * Shows in `gauge` how far limits are reached, from the half of each. A limit that is no longer half
 * reached is at 0, since a series of a gauge never ends.
 */
export function limitRatios(
  gauge: ReturnType<PluginContext['metrics']['gauge']>,
): (bounds: readonly Reached[]) => void {
  const reached = new Map<string, Reached['labels']>();
  return (bounds) => {
    const ratios = new Map(
      bounds.flatMap(({ labels, used, max }) => {
        const ratio = max > 0 ? used / max : 1;
        return ratio < shownFrom ? [] : [[JSON.stringify(labels), { labels, ratio }] as const];
      }),
    );
    reached.forEach((labels, key) => !ratios.has(key) && gauge.set(0, labels));
    reached.clear();
    ratios.forEach(({ labels, ratio }, key) => {
      reached.set(key, labels);
      gauge.set(ratio, labels);
    });
  };
}
