import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock } from 'svc/sdk';

import type { Keys, Statement } from './keys.ts';
import type { Memory } from './memory.ts';
import { beforeAll, type Store } from './rows/store.ts';
import type { Anchor, Checkpoint } from './rows/tables.ts';

export interface CheckpointParts {
  readonly store: Store;
  readonly keys: Keys;
  readonly memory: Memory;
  readonly clock: Clock;
  readonly dataDir: string;
}

const mostUnsigned = 1_000;
/** The first checkpoint is signed when the trail begins; a start that failed may make up for it this long. */
const graceMs = 60 * 60_000;

/** Signed statements about the end of the trail: a truncated one contradicts the last. */
export class Checkpoints {
  readonly #parts: CheckpointParts;
  readonly #file: string;
  #signedUpTo = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
    this.#file = join(parts.dataDir, 'audit-checkpoints.log');
  }

  /**
   * Signs the last row that this process has seen, unless it is signed already; before the first
   * row, that there is none. Runs one at a time, since calls share the end of the file.
   */
  sign(): Promise<void> {
    const signing = this.#turn.then(() => this.#signEnd());
    // Its caller receives the failure; the next one takes its turn all the same.
    this.#turn = signing.catch(() => undefined);
    return signing;
  }

  /** Signs when many rows came since the last time. */
  async keepUp(): Promise<void> {
    if ((await this.#parts.memory.look()).seq - this.#signedUpTo >= mostUnsigned) {
      await this.sign();
    }
  }

  /**
   * Returns whether the trail is too old to have nothing signed: a wiped trail does not get a new
   * beginning.
   */
  isOverdue(known: readonly Checkpoint[], anchors: readonly Anchor[]): boolean {
    const { clock, keys } = this.#parts;
    return known.length === 0 && anchors.length === 0 && clock.now() - keys.since > graceMs;
  }

  /** All that are known, from the table and from the file: an altered one of the two is contradicted by the other. */
  async all(): Promise<readonly Checkpoint[]> {
    const lines = wholeLines(await textOf(this.#file));
    return [...(await this.#parts.store.checkpoints()), ...lines.map(parsed)];
  }

  isSigned(checkpoint: Checkpoint): boolean {
    return this.#parts.keys.isSigned(
      checkpoint.key_id,
      statement(checkpoint),
      checkpoint.signature,
    );
  }

  async #signEnd(): Promise<void> {
    const { store, keys, memory, clock } = this.#parts;
    const last = await memory.look();
    if (
      (await store.checkpoints(last.seq - 1)).length === 0 &&
      !this.isOverdue(await this.all(), await store.anchors())
    ) {
      const fact = { seq: last.seq, hash: last.hash, at: clock.now() };
      await store.addCheckpoint({
        ...fact,
        key_id: keys.newest,
        signature: keys.sign(statement(fact)),
      });
      await extend(this.#file, store);
    }
    this.#signedUpTo = last.seq;
  }
}

const statement = ({ seq, hash, at }: Pick<Checkpoint, 'seq' | 'hash' | 'at'>): Statement => [
  'svc audit checkpoint',
  seq,
  hash,
  at,
];

/** Completes the file from the table: a torn line is truncated, and written again. */
async function extend(file: string, store: Store): Promise<void> {
  const text = await textOf(file);
  const lines = wholeLines(text);
  const written = lines.length === 0 ? beforeAll : parsed(lines.at(-1)!).seq;
  const missing = await store.checkpoints(written);
  const handle = await open(file, 'a', 0o600);
  try {
    await cutTorn(handle, text);
    await handle.appendFile(
      missing.map((checkpoint) => `${JSON.stringify(checkpoint)}\n`).join(''),
    );
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function cutTorn(handle: FileHandle, text: string): Promise<void> {
  if (text !== '' && !text.endsWith('\n')) {
    await handle.truncate(Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return '';
    }
    throw error;
  }
}

const wholeLines = (text: string): string[] => text.split('\n').slice(0, -1);

/** A line that is no checkpoint becomes one without a valid signature. */
function parsed(line: string): Checkpoint {
  const unsigned: Checkpoint = { seq: 0, hash: '', at: 0, key_id: 0, signature: '' };
  try {
    const value = JSON.parse(line) as Checkpoint | null;
    const { seq, hash, at, key_id, signature } = value ?? unsigned;
    return typeof seq === 'number' && typeof signature === 'string'
      ? { seq, hash, at, key_id, signature }
      : unsigned;
  } catch {
    // The file may have been altered; verification reports that.
    return unsigned;
  }
}
