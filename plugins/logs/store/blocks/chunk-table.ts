import { type Labels } from 'svc/query';
import { type Catalogue } from 'svc/store';

import type { StreamTable } from '../head/stream-table.ts';

export const schemaSql = [
  `create table streams (
     id integer primary key,
     labels text not null,
     cut_record integer not null
   ) strict;
   create table chunks (
     id integer primary key autoincrement,
     block integer not null references blocks (id) on delete cascade,
     section integer not null,
     stream integer not null references streams (id),
     mint integer not null,
     maxt integer not null,
     lines integer not null,
     bytes integer not null
   ) strict;
   create index chunks_block on chunks (block);
   create index chunks_oldest on chunks (stream, mint, id);
   create index chunks_newest on chunks (stream, maxt, id);`,
];

/** Location of the lines of one stream, with their first and last millisecond, both inclusive. */
export interface ChunkRow {
  readonly id: number;
  readonly block: number;
  readonly file: string;
  readonly section: number;
  readonly mint: number;
  readonly maxt: number;
  readonly lines: number;
  readonly bytes: number;
}

export type NewChunk = Omit<ChunkRow, 'id' | 'file'> & { readonly stream: number };

export interface ChunkWindow {
  readonly stream: number;
  readonly mint: number;
  readonly maxt: number;
  /** The last chunk that was there when the question was asked. */
  readonly upTo: number;
}

export interface ChunkTable {
  add(chunk: NewChunk): void;
  addStream(id: number, labels: Labels): void;
  setCut(stream: number, record: number): void;
  removeStream(id: number): void;
  /** Reads all streams into the table. */
  restore(streams: StreamTable): void;
  lastId(): number;
  /** Returns a page in the order of the direction: by `mint` ascending, or by `maxt` descending. */
  page(
    direction: 'forward' | 'backward',
    window: ChunkWindow,
    after: Pick<ChunkRow, 'id' | 'mint' | 'maxt'> | undefined,
    limit: number,
  ): readonly ChunkRow[];
  touches(window: Omit<ChunkWindow, 'upTo'>): boolean;
  totals(window: Omit<ChunkWindow, 'upTo'>): {
    readonly chunks: number;
    readonly lines: number;
    readonly bytes: number;
  };
  isEmpty(stream: number): boolean;
}

const columns =
  'c.id, c.block, b.file, c.section, c.mint, c.maxt, c.lines, c.bytes from chunks c join blocks b on b.id = c.block';
const within = 'c.stream = @stream and c.maxt >= @mint and c.mint <= @maxt';

export function chunkTable({ db }: Catalogue): ChunkTable {
  const insert = db.prepare<NewChunk>(
    'insert into chunks (block, section, stream, mint, maxt, lines, bytes) values (@block, @section, @stream, @mint, @maxt, @lines, @bytes)',
  );
  const insertStream = db.prepare<[number, string]>(
    'insert into streams (id, labels, cut_record) values (?, ?, 0)',
  );
  const cut = db.prepare<[number, number]>('update streams set cut_record = ? where id = ?');
  const erase = db.prepare<[number]>('delete from streams where id = ?');
  const known = db.prepare<[], { id: number; labels: string; cut_record: number }>(
    'select id, labels, cut_record from streams',
  );
  const last = db.prepare<[], number>('select coalesce(max(id), 0) from chunks').pluck();
  const forward = db.prepare<object, ChunkRow>(
    `select ${columns} where ${within} and c.id <= @upTo and (c.mint, c.id) > (@time, @id) order by c.mint, c.id limit @limit`,
  );
  const backward = db.prepare<object, ChunkRow>(
    `select ${columns} where ${within} and c.id <= @upTo and (c.maxt, c.id) < (@time, @id) order by c.maxt desc, c.id desc limit @limit`,
  );
  const one = db.prepare<object, number>(`select 1 from chunks c where ${within} limit 1`).pluck();
  const sums = db.prepare<object, { chunks: number; lines: number; bytes: number }>(
    `select count(*) as chunks, coalesce(sum(lines), 0) as lines, coalesce(sum(bytes), 0) as bytes from chunks c where ${within}`,
  );
  const any = db.prepare<[number], number>('select 1 from chunks where stream = ? limit 1').pluck();
  const beyond = 2 ** 52;

  return {
    add: (chunk) => void insert.run(chunk),
    addStream: (id, labels) => void insertStream.run(id, JSON.stringify(labels)),
    setCut: (stream, record) => void cut.run(record, stream),
    removeStream: (id) => void erase.run(id),
    restore(streams) {
      for (const { id, labels, cut_record } of known.all()) {
        streams.restore(id, Object.freeze(JSON.parse(labels) as string[]), cut_record);
      }
    },
    lastId: () => last.get()!,
    page: (direction, window, after, limit) =>
      direction === 'forward'
        ? forward.all({ ...window, time: after?.mint ?? -beyond, id: after?.id ?? 0, limit })
        : backward.all({ ...window, time: after?.maxt ?? beyond, id: after?.id ?? beyond, limit }),
    touches: (window) => one.get(window) !== undefined,
    totals: (window) => sums.get(window)!,
    isEmpty: (stream) => any.get(stream) === undefined,
  };
}
