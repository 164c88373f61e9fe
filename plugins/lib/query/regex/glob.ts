/** A piece of a branch: text, or a gap of at least `min` characters; `begin` and `end` are the ends of the subject. */
export type Piece =
  | { readonly text: string; readonly fold: boolean }
  | { readonly min: number; readonly newline: boolean }
  | 'begin'
  | 'end';

/** One way through a pattern: texts in order, with gaps between them. */
interface Glob {
  readonly texts: readonly string[];
  /** Min characters before each text, and after the last. */
  readonly gaps: readonly number[];
  /** True if the first text starts the subject; below, if the last one ends it. */
  readonly start: boolean;
  readonly end: boolean;
}

export interface GlobTest {
  readonly literals?: ReadonlySet<string>;
  readonly test: (subject: string) => boolean | undefined;
}

/** Max globs; more are faster in one pass of the engine. */
const maxGlobs = 32;

/**
 * Returns a test that searches for texts, which is many times faster than any engine; undefined if
 * that does not suffice.
 */
export function globTest(
  branches: readonly (readonly Piece[])[],
  anchored: boolean,
): GlobTest | undefined {
  const pieces = branches.flat();
  const fold = pieces.some((piece) => isText(piece) && piece.fold);
  if (fold && pieces.some((piece) => isText(piece) && !foldsSimply(piece))) {
    return undefined;
  }
  const globs: Glob[] = [];
  for (const branch of branches) {
    const glob = globOf(branch, anchored, fold);
    if (glob === undefined) {
      return undefined;
    }
    globs.push(glob);
  }
  const literals = fold ? undefined : literalsOf(globs, anchored);
  if (literals !== undefined && anchored) {
    return { literals, test: (subject) => literals.has(subject) };
  }
  const known = literals === undefined ? {} : { literals };
  if (globs.length > maxGlobs) {
    return literals === undefined ? undefined : { ...known, test: () => undefined };
  }
  const test =
    globs.length === 1
      ? single(globs[0]!)
      : (subject: string): boolean => globs.some((glob) => matches(glob, subject));
  const withinLines = pieces.some((piece) => isGap(piece) && !piece.newline);
  return { ...known, test: guarded(test, fold, withinLines) };
}

const isText = (piece: Piece): piece is Extract<Piece, { text: string }> =>
  typeof piece === 'object' && 'text' in piece;
const isGap = (piece: Piece): piece is Extract<Piece, { min: number }> =>
  typeof piece === 'object' && 'min' in piece;

/** Lowering the subject must change nothing else than what folding ignores. */
const foldsSimply = ({ text, fold }: { readonly text: string; readonly fold: boolean }): boolean =>
  fold ? /^[A-Za-z]*$/.test(text) : /^[\x20-\x40[-`{-~]*$/.test(text);

/** U+0130 becomes two characters when it is lowered, and U+017F folds to an s without being lowered to it. */
function guarded(
  test: (subject: string) => boolean,
  fold: boolean,
  withinLines: boolean,
): (subject: string) => boolean | undefined {
  if (!fold) {
    return withinLines ? (subject) => (subject.includes('\n') ? undefined : test(subject)) : test;
  }
  return (subject) =>
    (withinLines && subject.includes('\n')) ||
    subject.includes('\u0130') ||
    subject.includes('\u017f')
      ? undefined
      : test(subject.toLowerCase());
}

function globOf(branch: readonly Piece[], anchored: boolean, fold: boolean): Glob | undefined {
  let from = 0;
  let to = branch.length;
  let start = anchored;
  let end = anchored;
  while (branch[from] === 'begin') {
    start = true;
    from++;
  }
  while (to > from && branch[to - 1] === 'end') {
    end = true;
    to--;
  }
  const texts: string[] = [];
  const gaps: (number | undefined)[] = [undefined];
  for (const piece of branch.slice(from, to)) {
    if (typeof piece === 'string') {
      return undefined;
    }
    if (isGap(piece)) {
      const before = gaps.at(-1);
      // A gap that may not be empty counts characters, and two of them would count code units.
      if (piece.min + (before ?? 0) > 1) {
        return undefined;
      }
      gaps[gaps.length - 1] = piece.min + (before ?? 0);
    } else if (texts.length > 0 && gaps.at(-1) === undefined) {
      texts[texts.length - 1] += fold ? piece.text.toLowerCase() : piece.text;
    } else {
      texts.push(fold ? piece.text.toLowerCase() : piece.text);
      gaps.push(undefined);
    }
  }
  return settled(texts, gaps, start, end);
}

/** A gap at an end is the same as no claim about that end; one that needs a character keeps its need. */
function settled(
  texts: readonly string[],
  gaps: readonly (number | undefined)[],
  start: boolean,
  end: boolean,
): Glob {
  const hasText = texts.length > 0;
  return {
    texts,
    gaps: gaps.map((gap) => gap ?? 0),
    start: start && gaps[0] === undefined,
    end: end && (hasText ? gaps.at(-1) === undefined : gaps[0] === undefined),
  };
}

/** Returns the texts if there are no gaps, and all globs have the same anchors. */
function literalsOf(globs: readonly Glob[], anchored: boolean): ReadonlySet<string> | undefined {
  const plain = globs.every(
    ({ texts, gaps, start, end }) =>
      texts.length <= 1 &&
      start === anchored &&
      end === anchored &&
      gaps.every((gap) => gap === 0) &&
      (anchored || texts.length === 1),
  );
  return plain ? new Set(globs.map(({ texts }) => texts[0] ?? '')) : undefined;
}

function single(glob: Glob): (subject: string) => boolean {
  const [text] = glob.texts;
  if (glob.texts.length === 1 && text !== undefined && glob.gaps.every((gap) => gap === 0)) {
    if (glob.start && !glob.end) {
      return (subject) => subject.startsWith(text);
    }
    if (glob.end && !glob.start) {
      return (subject) => subject.endsWith(text);
    }
    if (!glob.start) {
      return (subject) => subject.includes(text);
    }
  }
  return (subject) => matches(glob, subject);
}

/**
 * Returns whether a glob matches. The earliest position of each text leaves the most for the next,
 * so one pass decides.
 */
function matches({ texts, gaps, start, end }: Glob, subject: string): boolean {
  const count = texts.length;
  if (count === 0) {
    return start && end ? subject === '' : subject.length >= gaps[0]!;
  }
  let at = 0;
  for (let i = 0; i < count; i++) {
    const text = texts[i]!;
    const from = at + gaps[i]!;
    if (i === count - 1 && end) {
      return i === 0 && start
        ? subject === text
        : subject.length - text.length >= from && subject.endsWith(text);
    }
    if (i === 0 && start) {
      if (!subject.startsWith(text)) {
        return false;
      }
      at = text.length;
      continue;
    }
    const found = subject.indexOf(text, from);
    if (found < 0) {
      return false;
    }
    at = found + text.length;
  }
  return subject.length >= at + gaps[count]!;
}
