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

import type { ThreadService, ThreadSetup } from 'svc/thread';

import type { Change } from '../documents/tables.ts';
import { errors } from '../errors.ts';
import { IndexFile, type IndexPosition } from './index-file.ts';

export interface IndexData {
  readonly folder: string;
}

/** Which index: the one that serves, or the one that is made anew beside it. */
export type Which = 'serving' | 'next';

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

/** The thread that writes indexes: one serves, and at times another one is made anew, which then takes its place in one step. */
export async function openIndex({ data, log }: ThreadSetup): Promise<ThreadService> {
  const { folder } = data as IndexData;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files: Partial<Record<Which, { file: IndexFile; name: string }>> = {};
  const named = servingFile(folder);
  let newest = Number(/index-(\d+)/.exec(named ?? '')?.[1] ?? 0);
  if (named !== undefined) {
    const name = named.slice(folder.length + 1);
    try {
      files.serving = { file: new IndexFile(named), name };
    } catch (error) {
      log.warn(
        { event: 'knowledge.index_unreadable', error, file: name },
        `the index of documents in ${name} cannot be read and is made anew`,
      );
    }
  }
  // What was begun and not finished when svc ended is begun anew.
  sweep(folder, files.serving?.name);

  const of = (which: Which): IndexFile => {
    const found = files[which];
    if (!found) {
      throw errors.no_index({ which });
    }
    return found.file;
  };
  return {
    methods: {
      positions: (): Partial<Record<Which, IndexPosition>> => ({
        ...(files.serving && { serving: files.serving.file.position() }),
        ...(files.next && { next: files.next.file.position() }),
      }),
      apply: ({ which, changes }: { which: Which; changes: readonly Change[] }) =>
        of(which).apply(changes),
      begin({ lineage }: { lineage: string }) {
        files.next?.file.close();
        // Never a name that a search may still have open.
        const name = fileOf((newest += 1));
        sweep(folder, files.serving?.name);
        files.next = { file: new IndexFile(join(folder, name)), name };
        files.next.file.begin(lineage);
      },
      /** From now on the next one serves; the one before stays on disk until its readers have left it. */
      promote() {
        const next = files.next!;
        if (files.serving !== undefined) {
          of('next').carryVectors(join(folder, files.serving.name));
        }
        writeFileSync(join(folder, `${pointer}.new`), next.name, { mode: 0o600, flush: true });
        renameSync(join(folder, `${pointer}.new`), join(folder, pointer));
        files.serving?.file.close();
        files.serving = next;
        delete files.next;
        return join(folder, next.name);
      },
      /** Nothing serves until the next one does. */
      discard() {
        files.serving?.file.close();
        delete files.serving;
        rmSync(join(folder, pointer), { force: true });
        sweep(folder, files.next?.name);
      },
      sweep: () => sweep(folder, files.serving?.name, files.next?.name),
      unembedded: ({ model, after, limit }: { model: string; after: number; limit: number }) =>
        of('serving').unembedded(model, after, limit),
      embed: ({
        model,
        vectors,
      }: {
        model: string;
        vectors: readonly { chunk: number; vector: Int8Array }[];
      }) => of('serving').embed(model, vectors),
      servingModel: () => ({ model: files.serving?.file.model(), file: files.serving?.name ?? '' }),
      keepModel: (model: string | undefined) => of('serving').keepModel(model),
    },
    async close() {
      files.serving?.file.close();
      files.next?.file.close();
    },
  };
}

/** Removes every index but these. */
function sweep(folder: string, ...keep: readonly (string | undefined)[]): void {
  for (const name of readdirSync(folder)) {
    const base = /^(index-\d+\.db)(?:-wal|-shm)?$/.exec(name)?.[1];
    if (base !== undefined && !keep.includes(base)) {
      rmSync(join(folder, name), { force: true });
    }
  }
}
