/** One kind of line: what its lines have in common, and how often it stood. */
export interface LogTemplate {
  readonly template: string;
  readonly count: number;
  /** Milliseconds. */
  readonly first: number;
  readonly last: number;
}

const longestTemplate = 300;

/** What varies from line to line, most specific first; every pattern is linear in the line. */
const variables: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<id>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '<ip>'],
  [/\b0x[\da-f]+\b/gi, '<hex>'],
  [/\b(?=[\da-f]*\d)(?=\d*[a-f])[\da-f]{8,}\b/gi, '<hex>'],
  [/"[^"]*"/g, '"<text>"'],
  [/\d+(?:\.\d+)?/g, '<n>'],
];

/** What of a line is the same in all lines of its kind. */
export const templateOf = (line: string): string =>
  variables.reduce((text, [pattern, name]) => text.replace(pattern, name), line.slice(0, 2_000)).slice(0, longestTemplate);

/** The kinds of lines there are, the most frequent first. */
export function templatesIn(lines: readonly { readonly line: string; readonly at: number }[]): readonly LogTemplate[] {
  const found = new Map<string, { count: number; first: number; last: number }>();
  for (const { line, at } of lines) {
    const template = templateOf(line);
    const known = found.get(template) ?? { count: 0, first: at, last: at };
    found.set(template, { count: known.count + 1, first: Math.min(known.first, at), last: Math.max(known.last, at) });
  }
  return [...found].map(([template, known]) => ({ template, ...known })).toSorted((a, b) => b.count - a.count || a.first - b.first);
}
