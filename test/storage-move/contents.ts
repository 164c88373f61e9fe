import type { Storage } from '../../core/storage/index.ts';

/** Tables with everything that a column, a key or a number can be. */
export const migrations = [
  {
    name: '001-init.sql',
    sql: `CREATE TABLE notes_book (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL UNIQUE COLLATE NOCASE
) STRICT;
CREATE TABLE notes_note (
  book_id INTEGER NOT NULL REFERENCES notes_book (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  text TEXT,
  weight REAL,
  large INTEGER,
  bytes BLOB,
  props TEXT NOT NULL DEFAULT '{}',
  colour TEXT GENERATED ALWAYS AS (json_extract(props, '$.colour')) VIRTUAL,
  PRIMARY KEY (book_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_note_colour ON notes_note (colour) WHERE colour IS NOT NULL;
CREATE TABLE notes_trail (
  seq INTEGER PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;
CREATE TRIGGER notes_trail_fixed BEFORE UPDATE ON notes_trail
BEGIN
  SELECT RAISE(ABORT, 'a row of the trail is never changed');
END;
CREATE TRIGGER notes_trail_gapless BEFORE INSERT ON notes_trail
WHEN NEW.seq <> (SELECT coalesce(max(seq), 6) + 1 FROM notes_trail)
BEGIN
  SELECT RAISE(ABORT, 'the trail grows at its end');
END;`,
  },
  { name: '002-add-mood.sql', sql: 'ALTER TABLE notes_book ADD COLUMN mood TEXT' },
];

interface Contents {
  notes_book: { id: number; title: string; mood: string | null };
  notes_note: {
    book_id: number;
    name: string;
    text: string | null;
    weight: number | null;
    large: number | null;
    bytes: Uint8Array | null;
    props: string;
    colour: string | null;
  };
  notes_trail: { seq: number; text: string };
}

export const tablesOf = (storage: Storage) => storage.tables<Contents>('notes');

/** Puts in rows that are hard to copy, and `many` that are not. */
export async function fill(storage: Storage, many: number): Promise<void> {
  await storage.migrate('notes', migrations);
  await tablesOf(storage).write(async (tx) => {
    const books = ['Alpha', 'beta', 'Straße 🚲', 'gone'].map((title) => ({ title, mood: null }));
    await tx
      .insertInto('notes_book')
      .values(books as never)
      .execute();
    // Its number is never given again.
    await tx.deleteFrom('notes_book').where('title', '=', 'gone').execute();
    const note = { book_id: 1, text: null, weight: null, large: null, bytes: null, props: '{}' };
    const hard = [
      { name: '', text: '', weight: 0.1 + 0.2, large: Number.MAX_SAFE_INTEGER },
      {
        name: 'Zeta',
        text: 'é\n\t"\'\\ \u{1f6b2}',
        weight: -1e300,
        large: -1,
        bytes: new Uint8Array([0, 255, 92]),
      },
      { name: 'alpha', weight: 5e-324, props: '{"colour":"red"}' },
      { name: 'Ähre', weight: 3, large: 0, bytes: new Uint8Array() },
    ];
    for (const row of hard) {
      await tx
        .insertInto('notes_note')
        .values({ ...note, ...row })
        .execute();
    }
    const rows = Array.from({ length: many }, (_, at) => ({
      ...note,
      book_id: 2,
      name: `note ${at}`,
      text: `text ${at} `.repeat(3),
    }));
    for (let from = 0; from < rows.length; from += 500) {
      await tx
        .insertInto('notes_note')
        .values(rows.slice(from, from + 500))
        .execute();
    }
    await tx
      .insertInto('notes_trail')
      .values([
        { seq: 7, text: 'seven' },
        { seq: 8, text: 'eight' },
      ])
      .execute();
  });
}

/** All rows, also what is computed from them. */
export async function contentOf(storage: Storage): Promise<unknown> {
  const { read } = tablesOf(storage);
  return {
    books: await read.selectFrom('notes_book').selectAll().orderBy('id').execute(),
    notes: (
      await read.selectFrom('notes_note').selectAll().orderBy('book_id').orderBy('name').execute()
    ).map(({ bytes, ...row }) => ({ ...row, bytes: bytes && Buffer.from(bytes).toString('hex') })),
    trail: await read.selectFrom('notes_trail').selectAll().orderBy('seq').execute(),
  };
}
