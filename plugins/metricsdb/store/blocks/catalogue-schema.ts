import type { Catalogue } from 'svc/store';

type Db = Catalogue['db'];

export const catalogueSchema: readonly string[] = [
  `create table state (name text primary key, value real not null) strict, without rowid;
   create table metadata (metric text primary key, type text not null, help text not null, unit text not null) strict, without rowid;`,
  'create table exemplars (id integer primary key autoincrement, series text not null, labels text not null, value text not null, time real not null) strict;',
];

/** Numbers that must change together with the blocks: `floor`, the first segment of the log that counts; `boundary`, of the last cut; `names`. */
export type StateName = 'floor' | 'boundary' | 'names';

export function getState(db: Db, name: StateName): number | undefined {
  return db.prepare('select value from state where name = ?').pluck().get(name) as
    | number
    | undefined;
}

export function setState(db: Db, name: StateName, value: number): void {
  db.prepare(
    'insert into state (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
  ).run(name, value);
}

/** A name for a block's file that no block had before. */
export function nextBlockName(db: Db, kind: string): string {
  const number = (getState(db, 'names') ?? 0) + 1;
  setState(db, 'names', number);
  return `${kind}-${String(number).padStart(8, '0')}`;
}
