import type { Catalogue, Wal } from 'svc/store';

type Db = Catalogue['db'];

export const catalogueSchema: readonly string[] = [
  `create table state (name text primary key, value real not null) strict, without rowid;
   create table metadata (metric text primary key, type text not null, help text not null, unit text not null) strict, without rowid;`,
  'create table exemplars (id integer primary key autoincrement, series text not null, labels text not null, value text not null, time real not null) strict;',
];

/**
 * Numbers that must change together with the blocks: `floor`, the first segment of the log that counts; `boundary`, of the last cut;
 * `names`; `claimed`, a floor that a block tells of and the catalogue did not; `rebuilt`, when what is in no block was lost.
 */
export type StateName = 'floor' | 'boundary' | 'names' | 'claimed' | 'rebuilt';

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

/** Takes over what a block says of the cut that wrote it. */
export function claim(
  db: Db,
  file: string,
  { floor, boundary }: { readonly floor?: number; readonly boundary?: number },
): void {
  const claims = {
    claimed: floor,
    boundary,
    names: Number(/-(\d+)$/.exec(file)?.[1] ?? 0),
  };
  for (const [name, value] of Object.entries(claims) as [StateName, number | undefined][]) {
    if (value !== undefined && value > (getState(db, name) ?? -Infinity)) {
      setState(db, name, value);
    }
  }
}

/**
 * Returns the first segment of the log that counts: what a cut noted, or what the block of one says
 * if the log of that cut is there. Without either the segments before the oldest went with a cut.
 */
export function floorOf(db: Db, wal: Pick<Wal, 'oldest' | 'has'>): number {
  const noted = getState(db, 'floor');
  const claimed = getState(db, 'claimed') ?? 0;
  if (claimed <= (noted ?? 0) || !wal.has(claimed)) {
    return noted ?? wal.oldest ?? 0;
  }
  setState(db, 'floor', claimed);
  return claimed;
}

/** Where the last cut was, for a block that takes over those of earlier ones. */
export function positionIn(db: Db): { readonly floor?: number; readonly boundary?: number } {
  const [floor, boundary] = [getState(db, 'floor'), getState(db, 'boundary')];
  return {
    ...(floor !== undefined && { floor }),
    ...(boundary !== undefined && { boundary }),
  };
}
