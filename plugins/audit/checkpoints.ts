import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock } from 'svc/sdk';

import type { Keys, Statement } from './keys.ts';
import type { Memory } from './memory.ts';
import { beforeAll, type Store } from './store.ts';
import type { Anchor, Checkpoint } from './tables.ts';

/** Signed statements of how far the trail goes: who cuts off its tail has to explain the last one. */
export interface Checkpoints {
  /** Signs the last row that this process has seen, unless it is signed already; before the first row, that there is none. */
  sign(): Promise<void>;
  /** Signs when many rows came since the last time. */
  keepUp(): Promise<void>;
  /** Whether the trail is too old to have nothing signed: whoever wiped it does not get a new beginning. */
  isOverdue(known: readonly Checkpoint[], anchors: readonly Anchor[]): boolean;
  /** All that are known, from the table and from the file; whoever alters one of the two is told on by the other. */
  all(): Promise<readonly Checkpoint[]>;
  isSigned(checkpoint: Checkpoint): boolean;
}

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

export function checkpoints({ store, keys, memory, clock, dataDir }: CheckpointParts): Checkpoints {
  const file = join(dataDir, 'audit-checkpoints.log');
  let signedUpTo = 0;
  let turn: Promise<void> = Promise.resolve();

  async function all(): Promise<readonly Checkpoint[]> {
    const lines = wholeLines(await textOf(file));
    return [...(await store.checkpoints()), ...lines.map(parsed)];
  }

  const isOverdue: Checkpoints['isOverdue'] = (known, anchors) => known.length === 0 && anchors.length === 0 && clock.now() - keys.since > graceMs;

  async function signEnd(): Promise<void> {
    const last = await memory.look();
    if ((await store.checkpoints(last.seq - 1)).length === 0 && !isOverdue(await all(), await store.anchors())) {
      const fact = { seq: last.seq, hash: last.hash, at: clock.now() };
      await store.addCheckpoint({ ...fact, key_id: keys.newest, signature: keys.sign(statement(fact)) });
      await extend(file, store);
    }
    signedUpTo = last.seq;
  }

  /** One after another, for they share the end of the file. */
  function sign(): Promise<void> {
    const signing = turn.then(signEnd);
    // Whoever asked hears of a failure; the next one takes its turn all the same.
    turn = signing.catch(() => undefined);
    return signing;
  }

  return {
    sign,
    async keepUp() {
      if ((await memory.look()).seq - signedUpTo >= mostUnsigned) {
        await sign();
      }
    },
    isOverdue,
    all,
    isSigned: (checkpoint) => keys.isSigned(checkpoint.key_id, statement(checkpoint), checkpoint.signature),
  };
}

const statement = ({ seq, hash, at }: Pick<Checkpoint, 'seq' | 'hash' | 'at'>): Statement => ['svc audit checkpoint', seq, hash, at];

/** Brings the file up to the table: a line that a crash tore is cut off, and what it lost is written again. */
async function extend(file: string, store: Store): Promise<void> {
  const text = await textOf(file);
  const lines = wholeLines(text);
  const written = lines.length === 0 ? beforeAll : parsed(lines.at(-1)!).seq;
  const missing = await store.checkpoints(written);
  const handle = await open(file, 'a', 0o600);
  try {
    await cutTorn(handle, text);
    await handle.appendFile(missing.map((checkpoint) => `${JSON.stringify(checkpoint)}\n`).join(''));
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

/** A line that is no checkpoint becomes one that nobody has signed. */
function parsed(line: string): Checkpoint {
  const nobodys: Checkpoint = { seq: 0, hash: '', at: 0, key_id: 0, signature: '' };
  try {
    const value = JSON.parse(line) as Checkpoint | null;
    const { seq, hash, at, key_id, signature } = value ?? nobodys;
    return typeof seq === 'number' && typeof signature === 'string' ? { seq, hash, at, key_id, signature } : nobodys;
  } catch {
    // What a stranger wrote into the file may be anything; verification says so.
    return nobodys;
  }
}
