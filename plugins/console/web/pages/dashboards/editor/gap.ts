import type { Panel } from '../drawn/shape.ts';

type Position = Panel['position'];

const columns = 24;
const usual = { w: 12, h: 8 };

/** Returns the position of a new panel: the topmost gap that fits it, and there the leftmost. */
export function firstGap(others: readonly Position[]): Position {
  // A gap begins at the top, or where a panel ends.
  const rows = [0, ...others.map(({ y, h }) => y + h)].toSorted((a, b) => a - b);
  const starts = [...new Set([0, ...others.map(({ x, w }) => x + w)])]
    .filter((x) => x + usual.w <= columns)
    .toSorted((a, b) => a - b);
  const places = rows.flatMap((y) => starts.map((x) => ({ x, y, ...usual })));
  return (
    places.find((place) => others.every((other) => !overlap(place, other))) ?? {
      x: 0,
      y: rows.at(-1)!,
      ...usual,
    }
  );
}

const overlap = (a: Position, b: Position): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
