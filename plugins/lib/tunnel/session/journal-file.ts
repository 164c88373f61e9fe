import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

import { type Clock, messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import type { IdempotencyJournal, Outcome } from './journal.ts';

export interface FileJournalOptions {
  /** Path of the file; a temporary file next to it is used when it is rewritten. */
  readonly file: string;
  readonly clock: Clock;
  /** Outcomes that are kept; default 256. */
  readonly keep?: number;
  /** Default 10 minutes. */
  readonly keepMs?: number;
  /**
   * Called when an outcome could not be written; from then on no command is run, and each is
   * refused with the cause.
   */
  readonly onTrouble?: (error: unknown) => void;
  /** Called with the numbers of lines that are damaged: what they said is not known any more. */
  readonly onDamage?: (lines: readonly number[]) => void;
}

/** Max size of a stored outcome: beyond it a command is not worth storing word by word. */
const maxOutcomeBytes = 256 * 1024;
const maxBytes = 8 * 1024 * 1024;
/** Keys whose outcome is gone but which must not run again. */
const maxKeys = 4_096;
/** Max obsolete lines before the file is rewritten. */
const maxStale = 1_024;

interface Entry {
  readonly key: string;
  readonly fingerprint: string;
  readonly at: number;
  outcome: Outcome | undefined;
  bytes: number;
  running: Promise<Outcome> | undefined;
  forgotten: boolean;
}

/** One line a step: begun before the command runs, ended before it is answered; each on disk before what follows it. */
export async function openFileJournal(options: FileJournalOptions): Promise<IdempotencyJournal> {
  await mkdir(dirname(options.file), { recursive: true, mode: 0o700 });
  const journal = new FileJournal(options);
  await journal.load();
  return journal;
}

class FileJournal implements IdempotencyJournal {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #keep: number;
  readonly #keepMs: number;
  readonly #onTrouble: ((error: unknown) => void) | undefined;
  readonly #onDamage: ((lines: readonly number[]) => void) | undefined;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  #handle: FileHandle | undefined;
  #lines = 0;
  #writing: Promise<void> = Promise.resolve();
  #broken: Error | undefined;
  #closed = false;

  constructor({
    file,
    clock,
    keep = 256,
    keepMs = 600_000,
    onTrouble,
    onDamage,
  }: FileJournalOptions) {
    this.#file = file;
    this.#clock = clock;
    this.#keep = keep;
    this.#keepMs = keepMs;
    this.#onTrouble = onTrouble;
    this.#onDamage = onDamage;
  }

  async load(): Promise<void> {
    const lines = (await readIfThere(this.#file)).split('\n');
    const damaged: number[] = [];
    for (const [i, line] of lines.entries()) {
      const step = readStep(line);
      if (!step) {
        // The last line may be torn by a kill: its process had promised nothing yet. Any other was whole once.
        if (i < lines.length - 1) {
          damaged.push(i + 1);
        }
        continue;
      }
      if (step.t !== undefined) {
        this.#entries.delete(step.k);
        this.#entries.set(step.k, entryOf(step.k, step.f ?? '', step.t));
      }
      const entry = this.#entries.get(step.k);
      if (entry && (step.o || step.x)) {
        entry.outcome = step.o;
        entry.bytes = line.length;
        entry.forgotten = step.x === true;
      }
    }
    if (damaged.length > 0) {
      this.#onDamage?.(damaged);
    }
    this.#forget();
    await this.#rewrite();
  }

  async run(key: string, fingerprint: string, work: () => Promise<Outcome>): Promise<Outcome> {
    if (!/^[\w.:-]{1,64}$/.test(key)) {
      throw errors.idempotency_key();
    }
    this.#forget();
    const known = this.#entries.get(key);
    if (known) {
      return this.#again(known, fingerprint);
    }
    if (this.#closed || this.#broken) {
      throw errors.journal_closed({ cause: this.#broken?.message ?? 'the agent is stopping' });
    }
    if (this.#entries.size >= maxKeys) {
      throw errors.too_many_commands(
        { maxKeys, keepMs: this.#keepMs / 60_000 },
        { retryAfterSeconds: 60 },
      );
    }
    const entry = entryOf(key, fingerprint, this.#clock.now());
    this.#entries.set(key, entry);
    entry.running = this.#first(entry, work);
    return entry.running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([...this.#entries.values()].map(async ({ running }) => running));
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #first(entry: Entry, work: () => Promise<Outcome>): Promise<Outcome> {
    const { key, fingerprint, at } = entry;
    try {
      await this.#append({ k: key, f: fingerprint, t: at });
    } catch (error) {
      this.#entries.delete(key);
      throw errors.command_not_written({ cause: messageOf(error) }, { cause: error });
    }
    const outcome = worthKeeping(await work());
    try {
      await this.#append({ k: key, o: outcome });
    } catch (error) {
      // Its beginning is on disk, so it will not run again; its caller may still get the outcome.
      this.#onTrouble?.(error);
    }
    entry.outcome = outcome;
    entry.bytes = JSON.stringify(outcome).length;
    entry.running = undefined;
    return outcome;
  }

  #again(entry: Entry, fingerprint: string): Promise<Outcome> | Outcome {
    if (entry.fingerprint !== fingerprint) {
      throw errors.key_of_another();
    }
    if (entry.forgotten) {
      throw errors.answer_forgotten();
    }
    const outcome = entry.running ?? entry.outcome;
    if (!outcome) {
      throw errors.interrupted();
    }
    return outcome;
  }

  /**
   * Drops expired outcomes; those beyond the size limit keep their key, so that they do not run
   * again.
   */
  #forget(): void {
    const since = this.#clock.now() - this.#keepMs;
    let kept = 0;
    let bytes = 0;
    for (const entry of [...this.#entries.values()].toReversed()) {
      if (entry.at < since && !entry.running) {
        this.#entries.delete(entry.key);
      } else if (entry.outcome) {
        kept += 1;
        bytes += entry.bytes;
        if (kept > this.#keep || bytes > maxBytes) {
          entry.outcome = undefined;
          entry.bytes = 0;
          entry.forgotten = true;
        }
      }
    }
  }

  /** Appends in order; resolves when it is on disk. */
  #append(step: Step): Promise<void> {
    const done = this.#writing.then(async () => {
      if (this.#broken) {
        throw this.#broken;
      }
      try {
        await this.#handle!.appendFile(lineOf(step));
        await this.#handle!.datasync();
        this.#lines += 1;
        if (this.#lines > 2 * this.#entries.size + maxStale) {
          await this.#rewrite();
        }
      } catch (error) {
        // The content on disk is unknown now, so no further command may rely on it.
        this.#broken = error as Error;
        throw error;
      }
    });
    this.#writing = done.catch(() => undefined);
    return done;
  }

  async #rewrite(): Promise<void> {
    const fresh = `${this.#file}.new`;
    const handle = await open(
      fresh,
      constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND,
      0o600,
    );
    const steps = [...this.#entries.values()].flatMap(
      ({ key, fingerprint, at, outcome, forgotten }): Step[] => [
        { k: key, f: fingerprint, t: at },
        ...(outcome ? [{ k: key, o: outcome }] : forgotten ? [{ k: key, x: true as const }] : []),
      ],
    );
    await handle.writeFile(steps.map(lineOf).join(''));
    await handle.datasync();
    await rename(fresh, this.#file);
    await syncFolder(dirname(this.#file));
    await this.#handle?.close();
    this.#handle = handle;
    this.#lines = steps.length;
  }
}

interface Step {
  readonly k: string;
  readonly f?: string;
  readonly t?: number;
  readonly o?: Outcome;
  readonly x?: true;
}

const entryOf = (key: string, fingerprint: string, at: number): Entry => ({
  key,
  fingerprint,
  at,
  outcome: undefined,
  bytes: 0,
  running: undefined,
  forgotten: false,
});

/** Returns a step as a line, with its checksum in front; an earlier version wrote none. */
function lineOf(step: Step): string {
  const text = JSON.stringify(step);
  return `${String(crc32(text)).padStart(10, '0')} ${text}\n`;
}

function readStep(line: string): Step | undefined {
  const [, sum, text = line] = /^(\d{10}) (.*)$/.exec(line) ?? [];
  if (sum !== undefined && Number(sum) !== crc32(text)) {
    return undefined;
  }
  try {
    const step = JSON.parse(text) as Step | null;
    return typeof step?.k === 'string' ? step : undefined;
  } catch {
    return undefined; // Torn or damaged: see `load`.
  }
}

function worthKeeping(outcome: Outcome): Outcome {
  let text: string;
  try {
    text = JSON.stringify(outcome);
  } catch {
    return {
      error: { code: 'internal', message: 'the command has run; its result is not plain JSON' },
    };
  }
  return text.length <= maxOutcomeBytes
    ? outcome
    : {
        error: {
          code: 'upstream_error',
          message: `the command has run; its result of ${text.length} bytes is too large to be stored`,
        },
      };
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return '';
    }
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
