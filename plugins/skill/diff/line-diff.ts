/** Difference between two texts as a unified diff. */
export interface LineDiff {
  readonly added: number;
  readonly removed: number;
  readonly text: string;
}

/** Texts that differ in more lines are too different for a diff to help. */
export const maxEdits = 600;
const context = 3;
const noNewline = '\\ No newline at end of file';

interface Step {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

/** Compares two texts line by line; undefined if they differ in more than `maxEdits` lines. */
export function lineDiff(before: string, after: string): LineDiff | undefined {
  const [left, right] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) {
    start += 1;
  }
  let [endLeft, endRight] = [left.length, right.length];
  while (endLeft > start && endRight > start && left[endLeft - 1] === right[endRight - 1]) {
    endLeft -= 1;
    endRight -= 1;
  }
  const found = shortestEdit(left.slice(start, endLeft), right.slice(start, endRight));
  if (found === undefined) {
    return undefined;
  }
  const steps: readonly Step[] = [
    ...left.slice(0, start).map(kept),
    ...found,
    ...left.slice(endLeft).map(kept),
  ];
  const count = (sign: Step['sign']): number => found.filter((step) => step.sign === sign).length;
  return { added: count('+'), removed: count('-'), text: hunksOf(steps) };
}

const kept = (line: string): Step => ({ sign: ' ', line });

/** Returns lines with their newline, so that a missing one at the end is a difference. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Finds the fewest lines to remove and add (Myers' greedy algorithm); undefined if that is too many. */
function shortestEdit(a: readonly string[], b: readonly string[]): readonly Step[] | undefined {
  const most = Math.min(a.length + b.length, maxEdits);
  const middle = most + 1;
  const furthest = new Int32Array(2 * most + 3);
  /** `furthest` before each round, as far as that round reads it. */
  const trail: Int32Array[] = [];
  for (let round = 0; round <= most; round++) {
    trail.push(furthest.slice(middle - round - 1, middle + round + 2));
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      let x = isDown(furthest, middle, diagonal, round)
        ? furthest[middle + diagonal + 1]!
        : furthest[middle + diagonal - 1]! + 1;
      let y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      furthest[middle + diagonal] = x;
      if (x >= a.length && y >= b.length) {
        return stepsOf(a, b, trail);
      }
    }
  }
  return undefined;
}

/** Returns whether the best way onto a diagonal adds a line, rather than removing one. */
const isDown = (furthest: Int32Array, middle: number, diagonal: number, round: number): boolean =>
  diagonal === -round ||
  (diagonal !== round && furthest[middle + diagonal - 1]! < furthest[middle + diagonal + 1]!);

/** Follows the trail back from the ends of both texts. */
function stepsOf(
  a: readonly string[],
  b: readonly string[],
  trail: readonly Int32Array[],
): readonly Step[] {
  const steps: Step[] = [];
  let [x, y] = [a.length, b.length];
  for (let round = trail.length - 1; round >= 0; round--) {
    const furthest = trail[round]!;
    const middle = round + 1;
    const down = isDown(furthest, middle, x - y, round);
    const from = x - y + (down ? 1 : -1);
    const fromX = round === 0 ? 0 : furthest[middle + from]!;
    const fromY = round === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      steps.push(kept(a[x]!));
    }
    if (round > 0) {
      steps.push(down ? { sign: '+', line: b[fromY]! } : { sign: '-', line: a[fromX]! });
      [x, y] = [fromX, fromY];
    }
  }
  return steps.reverse();
}

/** Returns changed lines with the lines around them, in the unified format. */
function hunksOf(steps: readonly Step[]): string {
  const changed = steps.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]));
  const spans: [from: number, to: number][] = [];
  for (const at of changed) {
    const last = spans.at(-1);
    const [from, to] = [Math.max(0, at - context), Math.min(steps.length, at + context + 1)];
    if (last !== undefined && from <= last[1]) {
      last[1] = to;
    } else {
      spans.push([from, to]);
    }
  }
  let [left, right, done] = [0, 0, 0];
  const texts: string[] = [];
  for (const [from, to] of spans) {
    // Between two hunks, both sides have the same lines.
    left += from - done;
    right += from - done;
    const hunk = steps.slice(from, to);
    const olds = hunk.filter(({ sign }) => sign !== '+').length;
    const news = hunk.filter(({ sign }) => sign !== '-').length;
    texts.push(
      `@@ -${range(left, olds)} +${range(right, news)} @@`,
      ...hunk.flatMap(({ sign, line }) =>
        line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, noNewline],
      ),
    );
    left += olds;
    right += news;
    done = to;
  }
  return texts.map((text) => `${text}\n`).join('');
}

/** Returns the place of a hunk; one without lines stands after the line before it. */
const range = (before: number, lines: number): string =>
  lines === 1 ? `${before + 1}` : `${lines === 0 ? before : before + 1},${lines}`;
