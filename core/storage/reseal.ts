import { setImmediate as otherWork } from 'node:timers/promises';

import { type Kysely, sql } from 'kysely';

import type { Resealed, Secrets, Tables } from '../sdk/index.ts';
import { keyOf } from './seal.ts';
import type { SealedColumn } from './sealed-columns.ts';

/** A sealed value, and the row it stands in. */
interface Cell {
  readonly row: readonly unknown[];
  readonly sealed: string;
}

const rowsOfPage = 64;

/**
 * Seals again whatever another key than `newest` has sealed in one column. What is left to do is what the column
 * shows, so a process that was killed anywhere in here has nothing to remember.
 */
export async function reseal(
  column: SealedColumn,
  newest: string,
  { read, write }: Tables<unknown>,
  secrets: Secrets,
  end: AbortSignal,
): Promise<Omit<Resealed, 'kid'>> {
  const unreadable: string[] = [];
  let resealed = 0;
  for await (const page of pagesOf(column, read)) {
    end.throwIfAborted();
    const renewed: (Cell & { readonly fresh: string })[] = [];
    for (const cell of page.filter(({ sealed }) => keyOf(sealed) !== newest)) {
      const fresh = renew(cell, column, secrets);
      if (fresh === undefined) {
        unreadable.push(keyOf(cell.sealed)!);
      } else {
        renewed.push({ ...cell, fresh });
      }
    }
    resealed += renewed.length === 0 ? 0 : await write((tx) => replace(renewed, column, tx));
  }
  return { resealed, unreadable };
}

/** The keys that have sealed what stands in a column. */
export async function keysIn(
  column: SealedColumn,
  { read }: Tables<unknown>,
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for await (const page of pagesOf(column, read)) {
    page.forEach(({ sealed }) => keys.add(keyOf(sealed)!));
  }
  return keys;
}

/** The keys that have sealed the first values of a column: enough to see that one is missing. */
export async function keysAtStart(
  column: SealedColumn,
  { read }: Tables<unknown>,
): Promise<readonly string[]> {
  for await (const page of pagesOf(column, read)) {
    return [...new Set(page.map(({ sealed }) => keyOf(sealed)!))];
  }
  return [];
}

/** The sealed values of a column in the order of its rows; a page at a time, with other work in between. */
async function* pagesOf(
  { table, column, row }: SealedColumn,
  db: Kysely<unknown>,
): AsyncGenerator<readonly Cell[]> {
  const names = row.map((name) => sql.ref(name));
  const shown = [
    ...names.map((name, index) => sql`${name} as ${sql.ref(`row${index}`)}`),
    sql`${sql.ref(column)} as ${sql.ref('value')}`,
  ];
  for (let last: readonly unknown[] | undefined; ;) {
    const beyond =
      last === undefined ? sql`` : sql`where (${sql.join(names)}) > (${sql.join(last)})`;
    const { rows } = await sql<Readonly<Record<string, unknown>>>`
      select ${sql.join(shown)} from ${sql.table(table)} ${beyond} order by ${sql.join(names)} limit ${rowsOfPage}
    `.execute(db);
    const found = rows.map((values) => ({
      row: names.map((_, index) => values[`row${index}`]),
      sealed: String(values['value']),
    }));
    yield found.filter(({ sealed }) => keyOf(sealed) !== undefined);
    if (found.length < rowsOfPage) {
      return;
    }
    last = found.at(-1)!.row;
    await otherWork();
  }
}

function renew(
  { row, sealed }: Cell,
  { table, column }: SealedColumn,
  secrets: Secrets,
): string | undefined {
  const place = { table, column, row: row.map(String).join('|') };
  try {
    return secrets.seal(place, secrets.open(place, sealed));
  } catch {
    // Its key is lost, or it was altered: whoever owns the value says so when it is used. It stays as it is.
    return undefined;
  }
}

/** Each value only while it is still the one that was opened: what its owner wrote meanwhile stays. */
async function replace(
  cells: readonly (Cell & { readonly fresh: string })[],
  { table, column, row }: SealedColumn,
  tx: Kysely<unknown>,
): Promise<number> {
  let replaced = 0n;
  for (const { row: values, sealed, fresh } of cells) {
    const same = row.map((name, index) => sql`${sql.ref(name)} = ${values[index]}`);
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${fresh} where ${sql.join(same, sql` and `)} and ${sql.ref(column)} = ${sealed}
    `.execute(tx);
    replaced += numAffectedRows;
  }
  return Number(replaced);
}
