import type Database from 'better-sqlite3';

import type { ListCopy } from '../wal/wal-files.ts';

/**
 * Returns the copy of a log's list of segments that the catalogue holds: whoever deletes the list
 * together with a segment has not deleted this.
 */
export function segmentCopyIn(db: Database.Database): ListCopy {
  db.exec(
    'create table if not exists wal_segments (id integer primary key check (id = 1), list blob not null) strict',
  );
  const get = db.prepare<[], { readonly list: Buffer }>('select list from wal_segments');
  const set = db.prepare<[Uint8Array]>(
    'insert into wal_segments (id, list) values (1, ?) on conflict (id) do update set list = excluded.list',
  );
  return { read: () => get.get()?.list, write: (list) => void set.run(list) };
}
