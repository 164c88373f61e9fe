import { createHash } from 'node:crypto';

import { readGoDuration } from 'svc/query';
import { display, isTrue, type TemplateFunction, templateFunction, typeName } from 'svc/template';

import { parseByteSize } from '../syntax/byte-size.ts';

export const text = (value: unknown): string => {
  if (typeof value === 'string' || value === undefined) {
    return value ?? '';
  }
  throw new Error(`wrong type for value; expected string; got ${typeName(value)}`);
};
const whole = (value: unknown): number => {
  if (typeof value === 'bigint') {
    return Number(value);
  }
  throw new Error(`wrong type for value; expected int; got ${typeName(value)}`);
};

/** Defines a function that takes this many texts. */
export const onTexts = (count: number, work: (...texts: string[]) => unknown): TemplateFunction =>
  templateFunction(count, count, (args) => work(...args.map(text)));

/** Replaces at most `most` times; all if it is negative. Throws before the text grows too long. */
function replaced(subject: string, from: string, to: string, most: number, room: number): string {
  const parts = from === '' ? Array.from(subject) : subject.split(from);
  const times = Math.min(
    from === '' ? parts.length + 1 : parts.length - 1,
    most < 0 ? Infinity : most,
  );
  if (subject.length + times * to.length > room) {
    throw new Error(`the text grows past ${room} characters`);
  }
  if (from === '') {
    return (
      parts.map((part, i) => (i < times ? to + part : part)).join('') +
      (times > parts.length ? to : '')
    );
  }
  return (
    parts.slice(0, times + 1).join(to) +
    (times + 1 < parts.length ? from + parts.slice(times + 1).join(from) : '')
  );
}

const trimLeft = (subject: string, cutset: string): string => {
  const cut = new Set(cutset);
  const chars = Array.from(subject);
  const from = chars.findIndex((char) => !cut.has(char));
  return from < 0 ? '' : chars.slice(from).join('');
};
const trimRight = (subject: string, cutset: string): string => {
  const cut = new Set(cutset);
  const chars = Array.from(subject);
  return chars.slice(0, chars.findLastIndex((char) => !cut.has(char)) + 1).join('');
};
const trimAll = (subject: string, cutset: string): string =>
  trimLeft(trimRight(subject, cutset), cutset);
const withoutPrefix = (subject: string, prefix: string): string =>
  subject.startsWith(prefix) ? subject.slice(prefix.length) : subject;
const withoutSuffix = (subject: string, suffix: string): string =>
  suffix !== '' && subject.endsWith(suffix) ? subject.slice(0, -suffix.length) : subject;

function aligned(width: number, subject: string, right: boolean): string {
  const chars = Array.from(subject);
  if (width < 0 || chars.length === width) {
    return subject;
  }
  if (chars.length > width) {
    return (right ? chars.slice(chars.length - width) : chars.slice(0, width)).join('');
  }
  if (width > 10_000) {
    throw new Error('the width is more than 10000');
  }
  return right
    ? subject.padStart(subject.length + width - chars.length)
    : subject.padEnd(subject.length + width - chars.length);
}

function repeated(count: number, subject: string, room: number): string {
  if (count < 0 || count * subject.length > room) {
    throw new Error(count < 0 ? 'negative repeat count' : `the text grows past ${room} characters`);
  }
  return subject.repeat(count);
}

function truncated(length: number, subject: string): string {
  const chars = Array.from(subject);
  return length < 0
    ? chars.length + length > 0
      ? chars.slice(length).join('')
      : subject
    : chars.slice(0, length).join('');
}

function indented(spaces: number, subject: string, room: number): string {
  const pad = repeated(spaces, ' ', room);
  return pad + replaced(subject, '\n', `\n${pad}`, -1, room);
}

/** Escapes a text for a query string, as Go does. */
const urlEncoded = (subject: string): string =>
  encodeURIComponent(subject)
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch (cause) {
    throw new Error('invalid URL escape', { cause });
  }
}

/** Plain JSON as template data: whole numbers are floats there, as in Go. */
function fromJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch (cause) {
    throw new Error('the text is no JSON', { cause });
  }
}

function sized(subject: string, value: number | undefined, what: string): number {
  if (value === undefined) {
    throw new Error(`invalid ${what} ${JSON.stringify(subject.slice(0, 64))}`);
  }
  return value;
}

function substring(from: number, to: number, subject: string): string {
  const chars = Array.from(subject);
  return chars.slice(Math.max(from, 0), to < 0 || to > chars.length ? chars.length : to).join('');
}

const lower = onTexts(1, (subject) => subject.toLowerCase());
const upper = onTexts(1, (subject) => subject.toUpperCase());

/** Functions of `line_format` and `label_format` that look at their arguments alone. */
export const textFunctions: ReadonlyMap<string, TemplateFunction> = new Map([
  ['ToLower', lower],
  ['lower', lower],
  ['ToUpper', upper],
  ['upper', upper],
  [
    'title',
    onTexts(1, (subject) =>
      subject.replace(/(?<![\p{L}\p{N}_'])\p{L}/gu, (letter) => letter.toUpperCase()),
    ),
  ],
  [
    'Replace',
    templateFunction(4, 4, ([subject, from, to, most], room) =>
      replaced(text(subject), text(from), text(to), whole(most), room),
    ),
  ],
  [
    'replace',
    templateFunction(3, 3, ([from, to, subject], room) =>
      replaced(text(subject), text(from), text(to), -1, room),
    ),
  ],
  ['Trim', onTexts(2, (subject, cutset) => trimAll(subject, cutset))],
  ['TrimLeft', onTexts(2, (subject, cutset) => trimLeft(subject, cutset))],
  ['TrimRight', onTexts(2, (subject, cutset) => trimRight(subject, cutset))],
  ['TrimPrefix', onTexts(2, (subject, prefix) => withoutPrefix(subject, prefix))],
  ['TrimSuffix', onTexts(2, (subject, suffix) => withoutSuffix(subject, suffix))],
  ['TrimSpace', onTexts(1, (subject) => subject.trim())],
  ['trim', onTexts(1, (subject) => subject.trim())],
  ['trimAll', onTexts(2, (cutset, subject) => trimAll(subject, cutset))],
  ['trimPrefix', onTexts(2, (prefix, subject) => withoutPrefix(subject, prefix))],
  ['trimSuffix', onTexts(2, (suffix, subject) => withoutSuffix(subject, suffix))],
  ['trunc', templateFunction(2, 2, ([length, subject]) => truncated(whole(length), text(subject)))],
  [
    'substr',
    templateFunction(3, 3, ([from, to, subject]) =>
      substring(whole(from), whole(to), text(subject)),
    ),
  ],
  [
    'alignLeft',
    templateFunction(2, 2, ([width, subject]) => aligned(whole(width), text(subject), false)),
  ],
  [
    'alignRight',
    templateFunction(2, 2, ([width, subject]) => aligned(whole(width), text(subject), true)),
  ],
  [
    'indent',
    templateFunction(2, 2, ([spaces, subject], room) =>
      indented(whole(spaces), text(subject), room),
    ),
  ],
  [
    'nindent',
    templateFunction(
      2,
      2,
      ([spaces, subject], room) => `\n${indented(whole(spaces), text(subject), room)}`,
    ),
  ],
  [
    'repeat',
    templateFunction(2, 2, ([count, subject], room) => repeated(whole(count), text(subject), room)),
  ],
  ['contains', onTexts(2, (part, subject) => subject.includes(part))],
  ['hasPrefix', onTexts(2, (prefix, subject) => subject.startsWith(prefix))],
  ['hasSuffix', onTexts(2, (suffix, subject) => subject.endsWith(suffix))],
  ['default', templateFunction(2, 2, ([other, value]) => (isTrue(value) ? value : other))],
  ['urlencode', onTexts(1, (subject) => urlEncoded(Buffer.from(subject).toString()))],
  ['urldecode', onTexts(1, (subject) => decoded(subject))],
  ['b64enc', onTexts(1, (subject) => Buffer.from(subject).toString('base64'))],
  ['b64dec', onTexts(1, (subject) => Buffer.from(subject, 'base64').toString())],
  ['fromJson', onTexts(1, (subject) => fromJson(subject))],
  ['sha1sum', onTexts(1, (subject) => createHash('sha1').update(subject).digest('hex'))],
  ['sha256sum', onTexts(1, (subject) => createHash('sha256').update(subject).digest('hex'))],
  ['bytes', onTexts(1, (subject) => sized(subject, parseByteSize(subject), 'bytes'))],
  ['duration', onTexts(1, (subject) => sized(subject, readGoDuration(subject), 'duration') / 1e9)],
  [
    'duration_seconds',
    onTexts(1, (subject) => sized(subject, readGoDuration(subject), 'duration') / 1e9),
  ],
  ['toString', templateFunction(1, 1, ([value]) => display(value))],
]);
