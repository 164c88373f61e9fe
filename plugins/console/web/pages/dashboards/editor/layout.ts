import type { Panel } from '../drawn/shape.ts';

export type Position = Panel['position'];

export const columns = 24;
const highest = 100;
const furthest = 200;

/** A change of a place by rows and columns. */
export interface Step {
  readonly x?: number;
  readonly y?: number;
  readonly w?: number;
  readonly h?: number;
}

/**
 * Returns the places after one of them was moved or sized: what it would cover goes down, and
 * everything moves up as far as it can. Fixed places stay where they are.
 */
export function settled(
  places: readonly Position[],
  moved?: number,
  fixed: readonly Position[] = [],
  centre?: number,
): readonly Position[] {
  const centreOf = (at: number): number =>
    at === moved && centre !== undefined ? centre : middle(places[at]!);
  const order = places
    .map((_, at) => at)
    .toSorted(
      (a, b) =>
        centreOf(a) - centreOf(b) ||
        Number(b === moved) - Number(a === moved) ||
        places[a]!.x - places[b]!.x,
    );
  /** Height up to which each column is taken. */
  const floor = Array.from({ length: columns }, () => 0);
  const found: Position[] = [...places];
  for (const at of order) {
    const { x, w, h } = places[at]!;
    let place = { x, w, h, y: Math.max(0, ...floor.slice(x, x + w)) };
    for (
      let below = fixed.find((one) => overlap(one, place));
      below !== undefined;
      below = fixed.find((one) => overlap(one, place))
    ) {
      place = { ...place, y: below.y + below.h };
    }
    floor.fill(place.y + h, x, x + w);
    found[at] = place;
  }
  return found;
}

/** Returns a place that is moved or sized, within the grid. */
export function stepped(place: Position, { x = 0, y = 0, w = 0, h = 0 }: Step): Position {
  const wide = clamp(place.w + w, 1, columns - (w === 0 ? 0 : place.x));
  return {
    x: clamp(place.x + x, 0, columns - wide),
    y: Math.max(0, place.y + y),
    w: wide,
    h: clamp(place.h + h, 1, highest),
  };
}

/**
 * Returns the places after a step by the keyboard. Up and down lead past the next panel, since one
 * row alone would lead back.
 */
export function afterKey(
  places: readonly Position[],
  at: number,
  step: Step,
  fixed: readonly Position[],
): readonly Position[] {
  const from = places[at]!;
  const distance = step.y ?? 0;
  for (let times = 1; times <= (distance === 0 ? 1 : furthest); times++) {
    const to = stepped(from, { ...step, y: distance * times });
    const isSized = step.w !== undefined || step.h !== undefined;
    const next = settled(places.with(at, to), at, fixed, isSized ? middle(from) : undefined);
    if (!isSame(next, places)) {
      return next;
    }
  }
  return places;
}

export const middle = ({ y, h }: Position): number => y + h / 2;

export const isSame = (a: readonly Position[], b: readonly Position[]): boolean =>
  a.every(
    (one, at) =>
      one.x === b[at]!.x && one.y === b[at]!.y && one.w === b[at]!.w && one.h === b[at]!.h,
  );

const clamp = (value: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, value));

const overlap = (a: Position, b: Position): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
