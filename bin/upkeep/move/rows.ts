import type { CellType, Table } from './shape.ts';
import type { Cell, Range, Row } from './side.ts';

/** Value of SQLite, as `safeIntegers` gives it, in the form that is compared. */
export function cellOf(value: unknown): Cell {
  return typeof value === 'bigint' || typeof value === 'number'
    ? String(value)
    : // Postgres has no such character.
      typeof value === 'string'
      ? value.replaceAll('\0', '\uFFFD')
      : (value as Cell);
}

/** Value for SQLite. */
export function bound(cell: Cell, type: CellType): unknown {
  return cell === null || type === 'TEXT' || type === 'BLOB'
    ? cell
    : type === 'INTEGER'
      ? BigInt(cell as string)
      : Number(cell);
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const columnsOf = ({ columns }: Table): string =>
  columns.map(({ name }) => quoted(name)).join(', ');

export const keyOf = (table: Table): string =>
  table.key.map((at) => quoted(table.columns[at]!.name)).join(', ');

export const keyIn = (table: Table, row: Row): Row => table.key.map((at) => row[at]!);

/** The same for one row only. */
export const nameOf = (key: Row): string =>
  JSON.stringify(key.map((cell) => (Buffer.isBuffer(cell) ? cell.toString('hex') : cell)));

export const isSame = (a: Row, b: Row): boolean =>
  a.every((cell, at) => {
    const other = b[at]!;
    return Buffer.isBuffer(cell) && Buffer.isBuffer(other) ? cell.equals(other) : cell === other;
  });

/** Reads a range of rows; `mark` writes the parameter of a number. */
export function rangeQuery(
  table: Table,
  place: string,
  { after, upTo, limit }: Range,
  mark: (at: number) => string,
): { readonly text: string; readonly cells: readonly Cell[]; readonly types: readonly CellType[] } {
  const cells = [...(after ?? []), ...(upTo ?? [])];
  const marks = cells.map((_cell, at) => mark(at + 1));
  const width = table.key.length;
  const conditions = [
    ...(after === undefined ? [] : [`(${keyOf(table)}) > (${marks.slice(0, width).join(', ')})`]),
    ...(upTo === undefined ? [] : [`(${keyOf(table)}) <= (${marks.slice(-width).join(', ')})`]),
  ];
  const types = cells.map((_cell, at) => table.columns[table.key[at % width]!]!.type);
  return {
    text: `select ${columnsOf(table)} from ${place}${conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`} order by ${keyOf(table)}${limit === undefined ? '' : ` limit ${limit}`}`,
    cells,
    types,
  };
}

/** Puts rows in the place of those with their keys. */
export function putQuery(table: Table, place: string, rows: string): string {
  const others = table.columns.filter((_column, at) => !table.key.includes(at));
  const change =
    others.length === 0
      ? 'nothing'
      : `update set ${others.map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ')}`;
  return `insert into ${place} (${columnsOf(table)}) values ${rows} on conflict (${keyOf(table)}) do ${change}`;
}
