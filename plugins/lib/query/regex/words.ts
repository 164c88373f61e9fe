/** A list of words, such as a dashboard makes of the hosts that are chosen. It is looked up: its length costs nothing. */
export interface WordList {
  /** Complete set of matching texts, if it is known. */
  readonly literals: ReadonlySet<string> | undefined;
  readonly hasGroup: boolean;
  test(subject: string): boolean;
  /** Returns what the brackets capture of a matching subject. */
  inBrackets(subject: string): string;
}

/** Words of the same length, with a NUL for any character. */
interface Shape {
  readonly length: number;
  readonly dots: readonly number[];
  readonly words: Set<string>;
}

/** Max shapes; each is looked up separately. */
const maxShapes = 512;
const longestWords = 1024 * 1024;

const word = /^(?:[^\\+*?()|[\]{}^$]|\\[^\w\s])*$/;
const inBrackets = /^([^()|]*)\((\?:)?([^()]*)\)([^()|]*?)(\.[*+])?$/;

/** `a|b\.c|d.e`, also in brackets between texts, `(a|b):9100`, or before the rest, `(a|b).*`; undefined when there is more to it. */
export function wordList(text: string, dotAll: boolean): WordList | undefined {
  const [, lead = '', open, list = text, tail = '', gap] = inBrackets.exec(text) ?? [];
  const inner = Array.from(`${list}|`.matchAll(/((?:[^\\|]|\\[^])*)\|/g), ([, one]) => one!);
  const size = text.length + inner.length * (lead.length + tail.length);
  if (
    inner.length < 2 ||
    inner.join('|') !== list ||
    size > longestWords ||
    ![lead, tail, ...inner].every((one) => word.test(one)) ||
    /[\0\p{Surrogate}\u{10000}-\u{10ffff}]/u.test(text)
  ) {
    return undefined;
  }
  const words = inner.map((one) => read(lead + one + tail));
  const shapes = shapesOf(words);
  if (shapes.length > maxShapes) {
    return undefined;
  }
  const more = gap === undefined ? undefined : gap === '.+' ? 1 : 0;
  const fits = (shape: Shape, units: string): boolean => {
    const rest = units.length - shape.length;
    return (
      (more === undefined ? rest === 0 : rest >= more) &&
      shape.words.has(masked(units, shape)) &&
      (dotAll ||
        !(units.includes('\n', shape.length) || shape.dots.some((at) => units[at] === '\n')))
    );
  };
  const [before, behind] = [read(lead).length, read(tail).length];
  return {
    literals:
      more === undefined && shapes.every(({ dots }) => dots.length === 0)
        ? new Set(words)
        : undefined,
    hasGroup: list !== text && open === undefined,
    test: (subject) => {
      const units = inUnits(subject);
      return shapes.some((shape) => fits(shape, units));
    },
    inBrackets(subject) {
      const units = inUnits(subject);
      // Of the matching words the first counts; that matters only before a rest that may be
      // anything.
      const length =
        more === undefined
          ? units.length
          : words.find((one) => fits(shapesOf([one])[0]!, units))!.length;
      return Array.from(subject)
        .slice(before, length - behind)
        .join('');
    },
  };
}

const read = (text: string): string =>
  text.replaceAll(/\\(.)|\./g, (_, escaped?: string) => escaped ?? '\0');

/** Replaces characters of two units by one, as no word contains any. */
const inUnits = (subject: string): string =>
  subject.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, '\ud800');

function shapesOf(words: readonly string[]): Shape[] {
  const shapes = new Map<string, Shape>();
  for (const one of words) {
    const dots = Array.from(one.matchAll(/\0/g), ({ index }) => index);
    const key = `${one.length} ${dots.join(' ')}`;
    const shape = shapes.get(key) ?? { length: one.length, dots, words: new Set() };
    shapes.set(key, shape);
    shape.words.add(one);
  }
  return [...shapes.values()];
}

function masked(units: string, { length, dots }: Shape): string {
  let text = '';
  let from = 0;
  for (const at of dots) {
    text += `${units.slice(from, at)}\0`;
    from = at + 1;
  }
  return text + units.slice(from, length);
}
