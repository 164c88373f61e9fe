import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock } from 'svc/sdk';

import type { Keys, Statement } from './keys.ts';
import type { Link } from './rows/chain.ts';
import type { Checkpoint } from './rows/tables.ts';

/**
 * Signed note of the newest row, in a file of its own: a trail that ends before it was truncated.
 * It is written after the rows are on disk, so it can only be behind them.
 */
export class Head {
  readonly #file: string;
  readonly #keys: Keys;
  readonly #clock: Clock;
  #written = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(dataDir: string, keys: Keys, clock: Clock) {
    this.#file = join(dataDir, 'audit-head.json');
    this.#keys = keys;
    this.#clock = clock;
  }

  /** Returns the noted row; undefined if there is no note that a key of this trail has signed. */
  async read(): Promise<Link | undefined> {
    const note = parsed(await this.#text());
    return note !== undefined && this.#keys.isSigned(note.key_id, statement(note), note.signature)
      ? { seq: note.seq, hash: note.hash }
      : undefined;
  }

  /** Notes a row, unless a later one is noted already. */
  write(link: Link): Promise<void> {
    const writing = this.#turn.then(() => this.#replace(link));
    // Its caller receives the failure; the next one takes its turn all the same.
    this.#turn = writing.catch(() => undefined);
    return writing;
  }

  async #replace({ seq, hash }: Link): Promise<void> {
    if (seq <= this.#written) {
      return;
    }
    const fact = { seq, hash, at: this.#clock.now() };
    const key_id = this.#keys.newest;
    const note: Checkpoint = { ...fact, key_id, signature: this.#keys.sign(statement(fact)) };
    await writeFile(`${this.#file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    await rename(`${this.#file}.new`, this.#file);
    this.#written = seq;
  }

  async #text(): Promise<string> {
    try {
      return await readFile(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return '';
      }
      throw error;
    }
  }
}

const statement = ({ seq, hash, at }: Pick<Checkpoint, 'seq' | 'hash' | 'at'>): Statement => [
  'svc audit head',
  seq,
  hash,
  at,
];

function parsed(text: string): Checkpoint | undefined {
  try {
    const note = JSON.parse(text) as Checkpoint | null;
    return typeof note?.seq === 'number' &&
      typeof note.hash === 'string' &&
      typeof note.key_id === 'number' &&
      typeof note.signature === 'string'
      ? note
      : undefined;
  } catch {
    // A file that a power failure left empty says nothing; checkpoints still do.
    return undefined;
  }
}
