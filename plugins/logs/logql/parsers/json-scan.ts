/** Errors of malformed JSON, in the words that Loki users know. */
export const jsonFaults = {
  object: "Value looks like object, but can't find closing '}' symbol",
  array: "Value looks like array, but can't find closing ']' symbol",
  string: "Value looks like string, but can't find closing '\"' symbol",
  value: "Value looks like Number/Boolean/None, but can't find its end: ',' or '}' symbol",
} as const;

export class JsonFault extends Error {}

/** Objects in objects, this deep at most. */
export const deepest = 64;

const quote = 34;
const backslash = 92;

export function skipBlank(text: string, at: number): number {
  let i = at;
  for (
    let code = text.charCodeAt(i);
    code === 32 || code === 9 || code === 10 || code === 13;
    code = text.charCodeAt(i)
  ) {
    i += 1;
  }
  return i;
}

/** Short texts are walked through; for longer ones the search of the engine is faster. */
const shortText = 32;

/** Returns the position after the closing quote of the string that starts at `at`. */
export function stringEnd(text: string, at: number): number {
  const near = Math.min(at + shortText, text.length);
  let i = at + 1;
  for (; i < near; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      return i + 1;
    }
    if (code === backslash) {
      i += 1;
    }
  }
  return farEnd(text, i);
}

function farEnd(text: string, from: number): number {
  let i = text.indexOf('"', from);
  while (i >= 0) {
    let slashes = 0;
    while (i - 1 - slashes >= from && text.charCodeAt(i - 1 - slashes) === backslash) {
      slashes += 1;
    }
    if (slashes % 2 === 0) {
      return i + 1;
    }
    i = text.indexOf('"', i + 1);
  }
  throw new JsonFault(jsonFaults.string);
}

/** The value of the string between these places, its quotes included. */
export function stringValue(text: string, at: number, end: number): string {
  const inside = text.slice(at + 1, end - 1);
  if (!inside.includes('\\')) {
    return readable(inside);
  }
  try {
    return readable(JSON.parse(text.slice(at, end)) as string);
  } catch {
    return inside;
  }
}

/** Values hold a blank where a character was lost on the way. */
export const readable = (value: string): string =>
  value.includes('\ufffd') ? value.replaceAll('\ufffd', ' ') : value;

export type JsonKind = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array';

export function kindAt(text: string, at: number): JsonKind {
  switch (text.charCodeAt(at)) {
    case quote:
      return 'string';
    case 123:
      return 'object';
    case 91:
      return 'array';
    case 116:
    case 102:
      return 'boolean';
    case 110:
      return 'null';
    default:
      return 'number';
  }
}

/** The place behind the value that begins at `at`. */
export function valueEnd(text: string, at: number, depth = 0): number {
  switch (kindAt(text, at)) {
    case 'string':
      return stringEnd(text, at);
    case 'object':
      return eachField(text, at, (_key, _keyEnd, value) => valueEnd(text, value, depth + 1), depth);
    case 'array':
      return eachItem(text, at, (value) => valueEnd(text, value, depth + 1), depth);
    default:
      return scalarEnd(text, at);
  }
}

/** Returns the position after a number or a word; numbers are not validated. */
export function scalarEnd(text: string, at: number): number {
  let i = at;
  let numeric = true;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 44 || code === 125 || code === 93 || code <= 32) {
      break;
    }
    numeric &&=
      (code >= 48 && code <= 57) ||
      code === 43 ||
      code === 45 ||
      code === 46 ||
      code === 69 ||
      code === 101;
  }
  if (i === at || !(numeric || isWord(text, at, i - at))) {
    throw new JsonFault(jsonFaults.value);
  }
  return i;
}

function isWord(text: string, at: number, length: number): boolean {
  return length === 5
    ? text.startsWith('false', at)
    : length === 4 && (text.startsWith('true', at) || text.startsWith('null', at));
}

/** Visits the fields of the object at `at`; `visit` gets the places of the key and of the value and answers where the value ends. */
export function eachField(
  text: string,
  at: number,
  visit: (key: number, keyEnd: number, value: number) => number,
  depth = 0,
): number {
  if (text[at] !== '{' || depth > deepest) {
    throw new JsonFault(jsonFaults.object);
  }
  let i = skipBlank(text, at + 1);
  if (text[i] === '}') {
    return i + 1;
  }
  for (;;) {
    if (text.charCodeAt(i) !== quote) {
      throw new JsonFault(jsonFaults.object);
    }
    const keyEnd = stringEnd(text, i);
    const colon = skipBlank(text, keyEnd);
    if (text[colon] !== ':') {
      throw new JsonFault(jsonFaults.object);
    }
    const next = skipBlank(text, visit(i, keyEnd, skipBlank(text, colon + 1)));
    if (text[next] === '}') {
      return next + 1;
    }
    if (text[next] !== ',') {
      throw new JsonFault(jsonFaults.object);
    }
    i = skipBlank(text, next + 1);
  }
}

/** Visits the items of the array at `at`; `visit` gets the place of each and its number, and answers where it ends. */
export function eachItem(
  text: string,
  at: number,
  visit: (value: number, index: number) => number,
  depth = 0,
): number {
  if (depth > deepest) {
    throw new JsonFault(jsonFaults.array);
  }
  let i = skipBlank(text, at + 1);
  if (text[i] === ']') {
    return i + 1;
  }
  for (let index = 0; ; index++) {
    const next = skipBlank(text, visit(i, index));
    if (text[next] === ']') {
      return next + 1;
    }
    if (text[next] !== ',') {
      throw new JsonFault(jsonFaults.array);
    }
    i = skipBlank(text, next + 1);
  }
}
