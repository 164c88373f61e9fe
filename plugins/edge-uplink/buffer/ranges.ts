/** A place in a queue: a segment, and a byte in it. */
export interface Place {
  readonly seq: number;
  readonly offset: number;
}

/** Range of unsent records; the last one is open-ended and receives new ones. */
export interface Range {
  from: Place;
  to: Place | undefined;
}

interface Closed extends Range {
  to: Place;
}

/**
 * Max ranges; beyond this they are joined: what lies between them is sent twice, which the manager
 * detects.
 */
const maxRanges = 16;

export const isBefore = (a: Place, b: Place): boolean =>
  a.seq < b.seq || (a.seq === b.seq && a.offset < b.offset);

/** Ends the open range at `end`, so that what comes after it goes first. */
export function split(ranges: readonly Range[], end: Place): Range[] {
  const closed: Closed[] = ranges
    .map(({ from, to }) => ({ from, to: to ?? end }))
    .filter(({ from, to }) => isBefore(from, to));
  while (closed.length >= maxRanges) {
    const [first, second] = closed.splice(0, 2) as [Closed, Closed];
    closed.unshift({ from: first.from, to: second.to });
  }
  return [...closed, { from: end, to: undefined }];
}

/** Returns the ranges without deleted segments, those before `seq`. */
export function cutBefore(ranges: readonly Range[], seq: number): Range[] {
  const floor = { seq, offset: 0 };
  return ranges
    .map(({ from, to }) => ({
      from: isBefore(from, floor) ? floor : from,
      to: to && isBefore(to, floor) ? floor : to,
    }))
    .filter(({ from, to }) => to === undefined || isBefore(from, to));
}

/** Parses ranges from a file; undefined if they cannot be valid. */
export function readRanges(value: unknown): Range[] | undefined {
  const isPlace = (place: unknown): place is Place =>
    typeof place === 'object' &&
    place !== null &&
    Number.isSafeInteger((place as Place).seq) &&
    Number.isSafeInteger((place as Place).offset);
  const list = Array.isArray(value) ? (value as Partial<Range>[]) : [];
  const sound =
    list.length > 0 &&
    list.length <= maxRanges &&
    list.every(
      ({ from, to }, index) =>
        isPlace(from) && (index === list.length - 1 ? to === undefined : isPlace(to)),
    );
  return sound ? (list as Range[]) : undefined;
}
