import { BadLine } from './bad-line.ts';

/** A name and its value; that of the metric is `__name__`. */
export type Label = [name: string, value: string];

const [space, tab, brace, quote, backslash] = [0x20, 0x09, 0x7b, 0x22, 0x5c];

/** Returns where name and labels end, or -1. */
export function endOfSeries(text: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && text[at] !== brace && text[at] !== space && text[at] !== tab) {
    at++;
  }
  const opened = skipBlank(text, at, end);
  if (text[opened] !== brace || opened >= end) {
    return at;
  }
  let quoted = false;
  for (at = opened; at < end; at++) {
    if (quoted && text[at] === backslash) {
      at++;
    } else if (text[at] === quote) {
      quoted = !quoted;
    } else if (!quoted && text[at] === 0x7d) {
      return at + 1;
    }
  }
  return -1;
}

const plainName = /^[a-zA-Z_:][\w:]*$/;
/** A label, or in quotes and without a value the name of the metric. */
const label =
  /[ \t]*(?:([a-zA-Z_]\w*)|"((?:[^"\\]|\\.)*)")[ \t]*(?:=[ \t]*"((?:[^"\\]|\\.)*)")?[ \t]*(,|$)/y;

/** The same as OpenMetrics has it: a blank stands behind a comma only, where some writers put one. */
const tightLabel = /(?:([a-zA-Z_]\w*)|"((?:[^"\\]|\\.)*)")(?:="((?:[^"\\]|\\.)*)")?(, ?|$)/y;

/** Well above any series that is stored; a text of several megabytes exhausts the engine of regular expressions. */
const longestSeries = 1_048_576;

/** Returns name and labels of a series, or of an exemplar, which is `nameless`. Throws a sentence. */
export function labelsOfText(series: string, tight: boolean, nameless = false): Label[] {
  if (series.length > longestSeries) {
    throw new BadLine(`a series may have at most ${longestSeries} characters`);
  }
  const open = series.indexOf('{');
  const before = open === -1 ? series : series.slice(0, open);
  const name = tight ? before : before.trimEnd();
  if (name !== '' && !plainName.test(name)) {
    throw new BadLine(
      `"${name.slice(0, 40)}" is not a plain name; put other names in quotes within the braces`,
    );
  }
  const pairs: Label[] = name === '' ? [] : [['__name__', name]];
  const inner =
    open === -1 ? '' : tight ? series.slice(open + 1, -1) : series.slice(open + 1, -1).trimEnd();
  const form = tight ? tightLabel : label;
  for (let at = 0; at < inner.length; at = form.lastIndex) {
    form.lastIndex = at;
    const [found, plain, quotedName, value] = form.exec(inner) ?? [];
    const isMetric =
      value === undefined &&
      quotedName !== undefined &&
      !pairs.some(([known]) => known === '__name__');
    if (found === undefined || (value === undefined && !isMetric)) {
      throw new BadLine(`"${inner.slice(at, at + 40)}" is not a label`);
    }
    pairs.push(
      isMetric
        ? ['__name__', unescaped(quotedName)]
        : [plain ?? unescaped(quotedName!), unescaped(value!)],
    );
  }
  if (tight && !nameless && !pairs.some(([known]) => known === '__name__')) {
    throw new BadLine('the metric has no name');
  }
  return pairs;
}

export const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (whole, char) =>
    char === 'n' ? '\n' : char === '"' || char === '\\' ? char : whole,
  );

export function skipBlank(text: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (text[at] === space || text[at] === tab || text[at] === 0x0d)) {
    at++;
  }
  return at;
}
