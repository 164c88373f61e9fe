import { eachField, eachItem, JsonFault, kindAt, stringValue, valueEnd } from './json-scan.ts';

/** Keys and indexes from the outermost value inwards. */
export type JsonPath = readonly (string | number)[];

const step =
  /(?:^|\.)([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,9})\]|\[(?:"((?:\\.|[^"\\])*)"|`([^`]*)`)\]/y;

/** `a.b[0]["c d"]`. */
export function parseJsonPath(text: string): JsonPath {
  const path: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const at = step.lastIndex;
    const found = step.exec(text);
    if (found === null) {
      throw new Error(`cannot parse expression [${text}]: syntax error at character ${at + 1}`);
    }
    path.push(
      found[1] ??
        (found[2] === undefined
          ? (found[4] ?? found[3]!.replace(/\\(.)/g, '$1'))
          : Number(found[2])),
    );
  }
  if (path.length === 0) {
    throw new Error(`cannot parse expression [${text}]: it is empty`);
  }
  return path;
}

/**
 * Returns the value at the path: the text of a string, the JSON of anything else; undefined if
 * there is none.
 */
export function readJsonPath(text: string, start: number, path: JsonPath): string | undefined {
  let at = start;
  for (const key of path) {
    const inner = typeof key === 'string' ? fieldAt(text, at, key) : itemAt(text, at, key);
    if (inner === undefined) {
      return undefined;
    }
    at = inner;
  }
  const end = valueEnd(text, at);
  const kind = kindAt(text, at);
  return kind === 'string'
    ? stringValue(text, at, end)
    : kind === 'null'
      ? ''
      : text.slice(at, end);
}

function fieldAt(text: string, at: number, wanted: string): number | undefined {
  let found: number | undefined;
  if (kindAt(text, at) === 'object') {
    untilFault(
      () =>
        eachField(text, at, (key, keyEnd, value) => {
          if (found === undefined && stringValue(text, key, keyEnd) === wanted) {
            found = value;
          }
          return valueEnd(text, value);
        }),
      () => found !== undefined,
    );
  }
  return found;
}

function itemAt(text: string, at: number, wanted: number): number | undefined {
  let found: number | undefined;
  if (kindAt(text, at) === 'array') {
    untilFault(
      () =>
        eachItem(text, at, (value, index) => {
          found = index === wanted ? value : found;
          return valueEnd(text, value);
        }),
      () => found !== undefined,
    );
  }
  return found;
}

/** Ignores a fault after the value that was found, as a line may be truncated. */
function untilFault(visit: () => unknown, found: () => boolean): void {
  try {
    visit();
  } catch (error) {
    if (!(error instanceof JsonFault) || !found()) {
      throw error;
    }
  }
}
