/** A place on a grid of 24 columns; rows have no end. */
export interface Position {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export const columns = 24;
export const lastRow = 10_000;
const usual = { w: 12, h: 8 };

/** Left to right, top to bottom: the order in which panels are read. */
export const inReadingOrder = (a: Position, b: Position): number => a.y - b.y || a.x - b.x;

/** Returns a position below everything else. */
export const placeBelow = (others: readonly Position[]): Position => ({
  x: 0,
  y: Math.min(
    lastRow,
    others.reduce((lowest, { y, h }) => Math.max(lowest, y + h), 0),
  ),
  ...usual,
});

/**
 * Returns the panels in reading order, moving overlapping ones down until they no longer overlap.
 */
export function arranged<T extends { readonly position: Position }>(
  panels: readonly T[],
): readonly T[] {
  /** Occupied height of each column. */
  const floor = Array.from({ length: columns }, () => 0);
  return panels
    .toSorted((a, b) => inReadingOrder(a.position, b.position))
    .map((panel) => {
      const { x, w, h } = panel.position;
      const y = Math.max(panel.position.y, ...floor.slice(x, x + w));
      floor.fill(y + h, x, x + w);
      return { ...panel, position: { x, y, w, h } };
    })
    .toSorted((a, b) => inReadingOrder(a.position, b.position));
}
