import { createHash } from 'node:crypto';

import { errors } from './errors.ts';
import { isSame, keyIn, nameOf } from './rows.ts';
import { type Shape, shapeOf, type Table } from './shape.ts';
import type { Row, Side, Source, Target } from './side.ts';

/** Table that is the same on both sides. */
export interface Compared {
  readonly table: string;
  readonly rows: number;
  readonly sha256: string;
}

interface Copying {
  readonly source: Source;
  readonly target: Target;
  readonly nativeBinding: string | undefined;
  readonly tell: (sentence: string) => void;
}

const rowsAtOnce = 500;

/**
 * Brings a target to what a source is at this moment. What is there already from a copy that was interrupted, or from an earlier moment,
 * is compared row by row, and only what differs is written.
 */
export async function copy({ source, target, nativeBinding, tell }: Copying): Promise<Shape> {
  const shape = shapeOf(await source.definitions(), nativeBinding);
  const { tables, indexes } = shape;
  const definitions = [...tables.map(({ definition }) => definition), ...indexes];
  const there = await target.definitions();
  const goesOn =
    there.length === definitions.length && there.every((text) => definitions.includes(text));
  if (goesOn && (await remove(source, target, tables))) {
    try {
      await put(source, target, tables, tell);
      return shape;
    } catch (error) {
      // One that is still there may have the name of another by now. Among none, none is in the way.
      assertConstraint(error);
    }
    tell(
      'What an earlier copy left stands in the way of what has changed since; copying all of it again.',
    );
  }
  await target.make(tables, indexes);
  await put(source, target, tables, tell);
  return shape;
}

/** Removes what the source has no more, rows before those that they refer to; returns false if some cannot go. */
async function remove(source: Source, target: Target, tables: readonly Table[]): Promise<boolean> {
  try {
    for (const table of tables.toReversed()) {
      for await (const { mine, theirs } of pages(source, target, table)) {
        const kept = new Set(mine.map((row) => nameOf(keyIn(table, row))));
        const keys = theirs.map((row) => keyIn(table, row));
        await target.remove(
          table,
          keys.filter((key) => !kept.has(nameOf(key))),
        );
      }
    }
    return true;
  } catch (error) {
    assertConstraint(error);
    return false;
  }
}

/** Writes what the target lacks or has otherwise, rows after those that they refer to. */
async function put(
  source: Source,
  target: Target,
  tables: readonly Table[],
  tell: Copying['tell'],
): Promise<void> {
  for (const table of tables) {
    let [rows, written] = [0, 0];
    for await (const { mine, theirs } of pages(source, target, table)) {
      const there = new Map(theirs.map((row) => [nameOf(keyIn(table, row)), row]));
      const fresh = mine.filter((row) => {
        const known = there.get(nameOf(keyIn(table, row)));
        return known === undefined || !isSame(row, known);
      });
      await target.put(table, fresh);
      rows += mine.length;
      written += fresh.length;
    }
    if (written > 0) {
      tell(`${table.name}: ${written} of ${rows} rows written`);
    }
  }
}

/** Rethrows what is no violation of a constraint, in the codes of SQLite or of Postgres. */
function assertConstraint(error: unknown): void {
  if (!/^(?:SQLITE_CONSTRAINT|23)/.test(String((error as { code?: unknown }).code))) {
    throw error;
  }
}

/** Walks both sides of a table together, a range of keys at a time. */
async function* pages(
  source: Source,
  target: Target,
  table: Table,
): AsyncGenerator<{ readonly mine: readonly Row[]; readonly theirs: readonly Row[] }> {
  for (let after: Row | undefined; ;) {
    const mine = await source.rows(table, { after, upTo: undefined, limit: rowsAtOnce });
    const isLast = mine.length < rowsAtOnce;
    const end = isLast ? undefined : keyIn(table, mine.at(-1)!);
    yield { mine, theirs: await target.rows(table, { after, upTo: end, limit: undefined }) };
    if (isLast) {
      return;
    }
    after = end;
  }
}

/** Reads every row of both sides once more; throws for a table that is not the same. */
export async function compare(
  source: Source,
  target: Target,
  tables: readonly Table[],
): Promise<readonly Compared[]> {
  const found: Compared[] = [];
  for (const table of tables) {
    const [mine, theirs] = [await sumOf(source, table), await sumOf(target, table)];
    if (mine.rows !== theirs.rows || mine.sha256 !== theirs.sha256) {
      throw errors.rows_differ({
        table: table.name,
        source: source.place,
        target: target.place,
        problem:
          mine.rows === theirs.rows
            ? `a value in its ${mine.rows} rows is another one`
            : `${theirs.rows} rows instead of ${mine.rows}`,
      });
    }
    found.push(mine);
  }
  return found;
}

async function sumOf(side: Side, table: Table): Promise<Compared> {
  const hash = createHash('sha256');
  let rows = 0;
  for (let after: Row | undefined; ;) {
    const found = await side.rows(table, { after, upTo: undefined, limit: rowsAtOnce });
    found.forEach((row) => hash.update(`${nameOf(row)}\n`));
    rows += found.length;
    if (found.length < rowsAtOnce) {
      return { table: table.name, rows, sha256: hash.digest('hex') };
    }
    after = keyIn(table, found.at(-1)!);
  }
}

/** Numbers go on where they were, triggers are made, and the target gets its name. */
export async function complete(
  source: Source,
  target: Target,
  { tables, triggers }: Shape,
): Promise<void> {
  for (const table of tables) {
    if (table.key.length === 1 && table.columns[table.key[0]!]!.type === 'INTEGER') {
      await target.setNumber(table, await source.lastNumber(table));
    }
  }
  await target.complete(triggers);
}
