import { stripVTControlCharacters } from 'node:util';

export interface Branch {
  readonly label: string;
  readonly children: readonly Branch[];
}

const gap = '  ';

/** Columns as wide as their widest cell; the last one is never padded, so lines have no trailing blanks. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  return rows
    .map((row) =>
      row.map((cell, column) => cell + ' '.repeat(widths[column]! - widthOf(cell))).join(gap),
    )
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A tree drawn with box characters, one label a line. */
export function tree({ label, children }: Branch): string {
  return [printable(label), ...limbs(children)].join('\n');
}

function limbs(children: readonly Branch[]): string[] {
  return children.flatMap(({ label, children: below }, index) => {
    const last = index === children.length - 1;
    return [
      `${last ? '└─' : '├─'} ${printable(label)}`,
      ...limbs(below).map((line) => `${last ? '  ' : '│ '} ${line}`),
    ];
  });
}

/** Names and causes come from plugins: nothing in them may move the cursor, ring, or turn the text around. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ');

/** The same of a text whose lines and indents count. */
export const printableLines = (text: string): string =>
  text.replaceAll('\t', '    ').split(/\r?\n/).map(printable).join('\n');

const widthOf = (cell: string): number => stripVTControlCharacters(cell).length;
