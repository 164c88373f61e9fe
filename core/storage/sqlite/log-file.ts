import { closeSync, openSync, readSync } from 'node:fs';

import { readLogIndex } from './log-index.ts';
import { isSame, type Sum, sumOf } from './log-sum.ts';

/** Commits that are in the log of a database, but behind a damage at which SQLite stops reading it. */
export interface LogLoss {
  /** Commits that are lost, at least. */
  readonly commits: number;
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const framesAtOnce = 256;
/** The last bit says in which byte order the checksums are. */
const magic = 0x377f0682;

interface LogHeader {
  readonly isWhole: boolean;
  readonly pageSize: number;
  readonly isLittle: boolean;
  readonly salts: string;
  readonly stored: Sum;
  readonly computed: Sum;
}

interface Frame {
  readonly isCommit: boolean;
  /** True if its page exists and its checksum continues that of the frame before. */
  readonly follows: boolean;
  /** Which use of the file it is of: a log is written from its beginning again and again, and earlier frames stay behind. */
  readonly salts: string;
}

/**
 * Finds commits that SQLite would drop without a word: it reads the log up to the first frame that
 * is not as it was written, and takes that for its end. What a power cut leaves of the last
 * transaction is no loss, since nobody was told that it is stored: a log is synced at each commit,
 * before the next transaction is begun. So a frame that continues a commit proves that commit, and
 * so does the index next to the log, which counts frames once they are synced.
 */
export function lossIn(database: string): LogLoss | undefined {
  const descriptor = openLog(`${database}-wal`);
  if (descriptor === undefined) {
    return undefined;
  }
  try {
    return walk(descriptor, database);
  } finally {
    closeSync(descriptor);
  }
}

function openLog(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

function walk(descriptor: number, database: string): LogLoss | undefined {
  const header = readHeader(descriptor, database);
  if (header === undefined) {
    return undefined;
  }
  const index = readLogIndex(`${database}-shm`);
  let salts: string | undefined = header.isWhole ? header.salts : undefined;
  /** Frames of the last commit that SQLite will find, and of the last one that is proved. */
  let found = 0;
  let proved = 0;
  let isFound = header.isWhole;
  /** SQLite reads no frame after a damaged header, but they may all be there. */
  let isUnbroken = true;
  let number = 0;
  let afterCommit = false;
  const commits: number[] = [];
  for (const frame of framesOf(descriptor, header)) {
    number += 1;
    salts ??= frame.follows ? frame.salts : (index?.salts ?? header.salts);
    const isCurrent = frame.salts === salts;
    const continues = isCurrent && frame.follows;
    isFound &&= continues;
    isUnbroken &&= continues;
    if (isCurrent && frame.isCommit) {
      commits.push(number);
    }
    if (isFound) {
      found = frame.isCommit ? number : found;
    } else if (isUnbroken && frame.isCommit) {
      proved = number;
    } else if (continues && afterCommit) {
      proved = number - 1;
    }
    afterCommit = frame.isCommit;
  }
  if (index !== undefined && index.salts === salts) {
    proved = Math.max(proved, index.frames);
  }
  const lost = commits.filter((commit) => commit > found && commit <= proved).length;
  return proved > found ? { commits: Math.max(1, lost) } : undefined;
}

function* framesOf(descriptor: number, header: LogHeader): Generator<Frame> {
  const bytes = frameHeaderBytes + header.pageSize;
  const piece = Buffer.alloc(framesAtOnce * bytes);
  let before: Pick<LogHeader, 'stored' | 'computed'> = header;
  for (let at = headerBytes, read = piece.length; read === piece.length; at += read) {
    read = readSync(descriptor, piece, 0, piece.length, at);
    for (let start = 0; start + bytes <= read; start += bytes) {
      const frame = piece.subarray(start, start + bytes);
      const stored: Sum = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
      const computed = frameSum(frame, before.stored, header.isLittle);
      yield {
        isCommit: frame.readUInt32BE(4) !== 0,
        follows:
          frame.readUInt32BE(0) !== 0 &&
          (isSame(stored, computed) ||
            // Of the frame before, only the checksum may be damaged.
            (!isSame(before.stored, before.computed) &&
              isSame(stored, frameSum(frame, before.computed, header.isLittle)))),
        salts: frame.toString('hex', 8, 16),
      };
      before = { stored, computed };
    }
  }
}

/** Returns the checksum of the page's number, the size after a commit, and the page. */
const frameSum = (frame: Buffer, before: Sum, isLittle: boolean): Sum =>
  sumOf(frame.subarray(frameHeaderBytes), sumOf(frame.subarray(0, 8), before, isLittle), isLittle);

function readHeader(descriptor: number, database: string): LogHeader | undefined {
  const bytes = Buffer.alloc(headerBytes);
  if (readSync(descriptor, bytes, 0, headerBytes, 0) < headerBytes) {
    return undefined;
  }
  const word = bytes.readUInt32BE(0);
  const isLittle = (word & 1) === 0;
  const stored: Sum = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  const computed = sumOf(bytes.subarray(0, 24), [0, 0], isLittle);
  const isWhole = (word & ~1) === magic && isSame(stored, computed);
  const pageSize = isWhole ? bytes.readUInt32BE(8) : pageSizeOf(database);
  return pageSize === undefined
    ? undefined
    : { isWhole, pageSize, isLittle, salts: bytes.toString('hex', 16, 24), stored, computed };
}

/** The database has pages of the same size; undefined if it has no header yet, or none that can be read. */
function pageSizeOf(database: string): number | undefined {
  const descriptor = openLog(database);
  if (descriptor === undefined) {
    return undefined;
  }
  try {
    const bytes = Buffer.alloc(2);
    readSync(descriptor, bytes, 0, 2, 16);
    const size = bytes.readUInt16BE(0) === 1 ? 65_536 : bytes.readUInt16BE(0);
    return size >= 512 && (size & (size - 1)) === 0 ? size : undefined;
  } finally {
    closeSync(descriptor);
  }
}
