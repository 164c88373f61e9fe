/** A place in a queue: a segment, and a byte in it. */
export interface Place {
  readonly seq: number;
  readonly offset: number;
}

/** What has not left yet: from here to there; the last range is open, and what is new goes there. */
export interface Range {
  from: Place;
  to: Place | undefined;
}

interface Closed extends Range {
  to: Place;
}

/** More stretches than this are joined: what lies between them is sent twice, which the manager notices. */
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

/** Without what stood in segments before `seq`, which are gone. */
export function cutBefore(ranges: readonly Range[], seq: number): Range[] {
  const floor = { seq, offset: 0 };
  return ranges
    .map(({ from, to }) => ({
      from: isBefore(from, floor) ? floor : from,
      to: to && isBefore(to, floor) ? floor : to,
    }))
    .filter(({ from, to }) => to === undefined || isBefore(from, to));
}

/** As a file says it; undefined when it says nothing that can be right. */
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
