import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { breakSeal, sealFile } from 'svc/store';
import type { ThreadService, ThreadSetup } from 'svc/thread';

import type { Change } from '../documents/tables.ts';
import { errors } from './errors.ts';
import { IndexFile, type IndexPosition } from './index-file.ts';

export interface IndexData {
  readonly folder: string;
}

/** Index in question: the one in use, or the one being rebuilt next to it. */
export type Which = 'serving' | 'next';

/** The next changes, and up to which one the index has them already: of two threads at one file, one brings each. */
interface IndexStep {
  readonly which: Which;
  readonly from: number;
  readonly changes: readonly Change[];
}

const pointer = 'current';
const fileOf = (number: number): string => `index-${number}.db`;

/** The number of the index that serves; undefined before the first. */
export function servingFile(folder: string): string | undefined {
  try {
    const name = readFileSync(join(folder, pointer), 'utf8').trim();
    return /^index-\d+\.db$/.test(name) && existsSync(join(folder, name))
      ? join(folder, name)
      : undefined;
  } catch {
    // None was finished yet.
    return undefined;
  }
}

/** The thread that writes indexes. */
export async function openIndex({ data, log }: ThreadSetup): Promise<ThreadService> {
  const { folder } = data as IndexData;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const indexes = new Indexes(folder, log);
  return {
    methods: {
      positions: () => indexes.positions(),
      apply: ({ which, from, changes }: IndexStep) => indexes.of(which).apply(from, changes),
      begin: ({ lineage }: { lineage: string }) => indexes.begin(lineage),
      promote: () => indexes.promote(),
      discard: () => indexes.discard(),
      sweep: () => indexes.sweep(),
      unembedded: ({ model, after, limit }: { model: string; after: number; limit: number }) =>
        indexes.of('serving').unembedded(model, after, limit),
      embed: ({
        model,
        vectors,
      }: {
        model: string;
        vectors: readonly { chunk: number; vector: Int8Array }[];
      }) => indexes.of('serving').embed(model, vectors),
      servingModel: () => indexes.servingModel(),
      keepModel: (model: string | undefined) => indexes.of('serving').keepModel(model),
    },
    close: async () => indexes.close(),
  };
}

interface OpenIndex {
  readonly file: IndexFile;
  readonly name: string;
}

/**
 * Index files of a folder: one is in use, and sometimes another is being rebuilt, which then
 * replaces it in one step.
 */
class Indexes {
  readonly #folder: string;
  #serving: OpenIndex | undefined;
  #next: OpenIndex | undefined;
  #newest: number;

  constructor(folder: string, log: ThreadSetup['log']) {
    this.#folder = folder;
    const named = servingFile(folder);
    this.#newest = Number(/index-(\d+)/.exec(named ?? '')?.[1] ?? 0);
    if (named !== undefined) {
      const name = named.slice(folder.length + 1);
      try {
        this.#serving = { file: openSealed(named), name };
      } catch (error) {
        log.warn(
          { event: 'knowledge.index_unreadable', error, file: name },
          `search index in ${name} is unreadable; rebuilding`,
        );
      }
    }
    // What was begun and not finished when svc ended is begun anew.
    sweep(folder, this.#serving?.name);
  }

  of(which: Which): IndexFile {
    const found = which === 'serving' ? this.#serving : this.#next;
    if (!found) {
      throw errors.no_index({ which });
    }
    return found.file;
  }

  positions(): Partial<Record<Which, IndexPosition>> {
    return {
      ...(this.#serving && { serving: this.#serving.file.position() }),
      ...(this.#next && { next: this.#next.file.position() }),
    };
  }

  begin(lineage: string): void {
    this.#next?.file.close();
    // Never a name that a search may still have open.
    const name = fileOf((this.#newest += 1));
    sweep(this.#folder, this.#serving?.name);
    this.#next = { file: new IndexFile(join(this.#folder, name)), name };
    this.#next.file.begin(lineage);
  }

  /**
   * Makes the next index the one in use; the previous one stays on disk until its readers have left
   * it.
   */
  promote(): string {
    const next = this.#next!;
    if (this.#serving !== undefined) {
      next.file.carryVectors(join(this.#folder, this.#serving.name));
    }
    const fresh = join(this.#folder, `${pointer}.new`);
    writeFileSync(fresh, next.name, { mode: 0o600, flush: true });
    renameSync(fresh, join(this.#folder, pointer));
    this.#serving?.file.close();
    this.#serving = next;
    this.#next = undefined;
    return join(this.#folder, next.name);
  }

  /** Discards the index in use; none is until the next one is promoted. */
  discard(): void {
    this.#serving?.file.close();
    this.#serving = undefined;
    rmSync(join(this.#folder, pointer), { force: true });
    sweep(this.#folder, this.#next?.name);
  }

  sweep(): void {
    sweep(this.#folder, this.#serving?.name, this.#next?.name);
  }

  servingModel(): { model: string | undefined; file: string } {
    return { model: this.#serving?.file.model(), file: this.#serving?.name ?? '' };
  }

  close(): void {
    this.#serving?.file.close();
    this.#next?.file.close();
    if (this.#serving !== undefined) {
      seal(join(this.#folder, this.#serving.name));
    }
  }
}

/** An index that is not what was closed in order would find other documents than there are. */
function openSealed(file: string): IndexFile {
  if (breakSeal(file) === 'changed') {
    throw errors.index_changed();
  }
  return new IndexFile(file);
}

/** A search that still reads leaves its log beside the file: then the next opening trusts it as it is. */
function seal(file: string): void {
  if (!existsSync(`${file}-wal`)) {
    sealFile(file);
  }
}

/** Removes every index but these. */
function sweep(folder: string, ...keep: readonly (string | undefined)[]): void {
  for (const name of readdirSync(folder)) {
    const base = /^(index-\d+\.db)(?:-wal|-shm|\.seal)?$/.exec(name)?.[1];
    if (base !== undefined && !keep.includes(base)) {
      rmSync(join(folder, name), { force: true });
    }
  }
}
