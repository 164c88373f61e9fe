import { printable, printableLines, table, type Paint, sizeOf, milliseconds } from 'svc/cli';
import type { Field, Format, Piece, Verb } from '../../manifest/verb.ts';

type Document = Readonly<Record<string, unknown>>;

/** The answer of a verb as people read it. */
export function shown({ list, fields, text }: Verb, answer: Document, paint: Paint): string {
  if (list) {
    const items = answer['items'] as readonly Document[];
    const rows = items.map((item) => list.columns.map((column) => cell(column, item, paint)));
    return items.length === 0
      ? list.empty
      : table([list.columns.map(({ header }) => header), ...rows]);
  }
  if (fields) {
    return table(
      fields
        .filter((field) => isThere(field, answer))
        .flatMap((field) =>
          cell(field, answer, paint)
            .split('\n')
            .map((line, index) => [index === 0 ? paint.faint(field.header) : '', line]),
        ),
    );
  }
  return text!
    .map((piece) =>
      typeof piece === 'string'
        ? filled(piece, answer)
        : isThere(piece, answer)
          ? cell(piece, answer, paint)
          : '',
    )
    .join('');
}

function isThere({ when }: Piece, answer: Document): boolean {
  const value = when === undefined ? true : fieldOf(answer, when);
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function cell(
  { text, none = '', width, paint: brushes = {} }: Piece | Field,
  answer: Document,
  paint: Paint,
): string {
  const full = filled(text, answer) || none;
  const cut = width !== undefined && full.length > width ? `${full.slice(0, width - 1)}…` : full;
  const brush = brushes[full] ?? brushes['*'];
  return brush === undefined || cut === '' ? cut : paint[brush](cut);
}

const filled = (text: string, answer: Document): string =>
  text.replaceAll(/\{([^{}|]*)(?:\|(\w+))?\}/g, (_, name: string, format: Format = 'plain') =>
    (format === 'lines' ? printableLines : printable)(formats[format](fieldOf(answer, name))),
  );

/** `last_attempt.stage` is the field `stage` of the field `last_attempt`. */
const fieldOf = (answer: Document, name: string): unknown =>
  name
    .split('.')
    .reduce<unknown>(
      (value, part) => (isDocument(value) && Object.hasOwn(value, part) ? value[part] : undefined),
      answer,
    );

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null;

const formats: Readonly<Record<Format, (value: unknown) => string>> = {
  plain: (value) => (Array.isArray(value) ? value.map(plain).join(', ') : plain(value)),
  /** A list shows as it is typed in JSON. */
  value: (value) => plain(value),
  /** A text of several lines, such as a document, or a list with one item a line. */
  lines: (value) => (Array.isArray(value) ? value.map(plain).join('\n') : plain(value)).trimEnd(),
  size: (value) => (typeof value === 'number' ? sizeOf(value) : ''),
  /** Formats milliseconds, or stages with some each. */
  duration: (value) =>
    value === null || value === undefined
      ? ''
      : milliseconds(isDocument(value) ? sum(Object.values(value)) : Number(value)),
  /** Rounded down: what is not all of it is not shown as 100 %. */
  percent: (value) =>
    typeof value === 'number' ? `${Math.floor(value * 1_000 + 1e-6) / 1_000} %` : '',
};

const plain = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : (JSON.stringify(value) ?? '');

const sum = (values: readonly unknown[]): number =>
  values.reduce<number>((total, value) => total + Number(value), 0);
