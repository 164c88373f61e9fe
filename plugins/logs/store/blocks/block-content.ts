import { type Labels, labelsKey } from 'svc/query';
import type { BlockContent, BlockDescription, BlockRow, Catalogue } from 'svc/store';

type Db = Catalogue['db'];

/** Chunk in the section of its position: number of its stream in the list, times, lines, bytes. */
type ChunkEntry = readonly [
  stream: number,
  mint: number,
  maxt: number,
  lines: number,
  bytes: number,
];

/** What a block of logs says beside its row. */
interface Contents {
  /** Labels, and the last record of the log whose lines are in blocks. */
  readonly streams: readonly (readonly [labels: Labels, cutRecord: number])[];
  readonly chunks: readonly ChunkEntry[];
}

/** A chunk as the cutter has it. */
export interface DescribedChunk {
  readonly labels: Labels;
  readonly mint: number;
  readonly maxt: number;
  readonly lines: number;
  readonly bytes: number;
  readonly lastRecord: number;
}

/** Describes a block of these chunks, one in each section. */
export function describedChunks(chunks: readonly DescribedChunk[]): BlockDescription {
  const numbers = new Map<string, number>();
  const streams: [Labels, number][] = [];
  const entries = chunks.map(({ labels, mint, maxt, lines, bytes, lastRecord }): ChunkEntry => {
    const key = labelsKey(labels);
    const number = numbers.get(key) ?? streams.push([labels, 0]) - 1;
    numbers.set(key, number);
    streams[number]![1] = Math.max(streams[number]![1], lastRecord);
    return [number, mint, maxt, lines, bytes];
  });
  return {
    level: 0,
    mint: chunks.reduce((least, { mint }) => Math.min(least, mint), Infinity),
    maxt: chunks.reduce((most, { maxt }) => Math.max(most, maxt), -Infinity),
    rows: chunks.reduce((sum, { lines }) => sum + lines, 0),
    meta: '{}',
    replaces: [],
    store: { streams, chunks: entries } satisfies Contents,
  };
}

/** How a block of logs tells what the catalogue knows of it: whose lines are in which section. */
export const blockContent: BlockContent = {
  enter(db, { id }, { store }) {
    const { streams, chunks } = store as Contents;
    const ids = streams.map(([labels, cut]) => streamIn(db, labels, cut));
    const insert = db.prepare(
      'insert into chunks (block, section, stream, mint, maxt, lines, bytes) values (?, ?, ?, ?, ?, ?, ?)',
    );
    chunks.forEach(([stream, ...rest], section) => insert.run(id, section, ids[stream], ...rest));
  },
  agrees: (db, row, { store }) => JSON.stringify(chunksIn(db, row)) === chunksOf(store as Contents),
  describeRow(db, row) {
    const chunks = chunksIn(db, row).map(([labels, mint, maxt, lines, bytes]) => ({
      labels: JSON.parse(labels) as string[],
      mint,
      maxt,
      lines,
      bytes,
      // Only the stream has it: what other blocks have of it is cut as well.
      lastRecord: cutOf(db, labels),
    }));
    const { level, mint, maxt, rows, meta } = row;
    return { ...describedChunks(chunks), level, mint, maxt, rows, meta };
  },
};

type NamedChunk = readonly [
  labels: string,
  mint: number,
  maxt: number,
  lines: number,
  bytes: number,
];

/** Chunks of a block by section. */
const chunksIn = (db: Db, { id }: BlockRow): NamedChunk[] =>
  db
    .prepare(
      'select s.labels, c.mint, c.maxt, c.lines, c.bytes from chunks c join streams s on s.id = c.stream where c.block = ? order by c.section',
    )
    .raw()
    .all(id) as NamedChunk[];

const chunksOf = ({ streams, chunks }: Contents): string =>
  JSON.stringify(chunks.map(([stream, ...rest]) => [JSON.stringify(streams[stream]![0]), ...rest]));

const cutOf = (db: Db, labels: string): number =>
  db.prepare('select max(cut_record) from streams where labels = ?').pluck().get(labels) as number;

/** The id of a stream with these labels, which is cut up to this record at least. */
function streamIn(db: Db, labels: Labels, cut: number): number {
  const text = JSON.stringify(labels);
  const known = db.prepare('select id from streams where labels = ?').pluck().get(text);
  if (known !== undefined) {
    db.prepare('update streams set cut_record = max(cut_record, ?) where id = ?').run(cut, known);
    return known as number;
  }
  return Number(
    db.prepare('insert into streams (labels, cut_record) values (?, ?)').run(text, cut)
      .lastInsertRowid,
  );
}
