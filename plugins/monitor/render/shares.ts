/** What a panel would take if it were alone. */
export interface Need {
  readonly points: number;
  readonly series: number;
}

/**
 * Divides points among panels and returns how many series each may show: what one does not need
 * goes to those that need more, and each shows one at least.
 */
export function shares(needs: readonly Need[], mostPoints: number, mostSeries: number): number[] {
  const most = needs.map(() => mostSeries);
  const wanted = needs.map(({ points, series }) => points * Math.min(series, mostSeries));
  const order = needs.map((_, at) => at).toSorted((a, b) => wanted[a]! - wanted[b]!);
  let left = mostPoints;
  order.forEach((at, index) => {
    const share = left / (order.length - index);
    const { points } = needs[at]!;
    if (points > 0) {
      most[at] = Math.max(1, Math.min(mostSeries, Math.floor(share / points)));
      left -= Math.min(wanted[at]!, most[at] * points);
    }
  });
  return most;
}
