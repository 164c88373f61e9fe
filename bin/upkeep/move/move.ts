import { join } from 'node:path';

import type { Product } from '../../../core/boot/index.ts';
import { SvcError, timestamp } from '../../../core/sdk/index.ts';
import { recover } from '../../../core/storage/disk/clean-stop.ts';
import { databaseName, DataLock } from '../../../core/storage/index.ts';
import { type Compared, compare, complete, copy } from './copy.ts';
import type { Source, Target } from './side.ts';
import { FileSource, FileTarget } from './sqlite-side.ts';

interface Moving {
  readonly dataDir: string;
  readonly product: Product;
  /** URLs of Postgres; undefined: the file in the data folder. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly tell: (sentence: string) => void;
}

export interface Moved {
  /** False while svc runs: what it writes from now on is still to be copied. */
  readonly isComplete: boolean;
  readonly from: string;
  readonly to: string;
  readonly tables: readonly Compared[];
}

/**
 * Moves the database from one place to another. While svc runs, everything up to this moment is copied; once it is stopped, what has
 * changed since, and then the place is another. Until that the source is not changed, and the target has no name by which svc would find
 * it: what is interrupted anywhere goes on with the next call.
 */
export async function move({ dataDir, product, from, to, tell }: Moving): Promise<Moved> {
  const nativeBinding = product.embedded?.nativeBinding;
  const lock = lockUnlessServed(dataDir, nativeBinding);
  let source: Source | undefined;
  let target: Target | undefined;
  try {
    if (lock !== undefined && from === undefined) {
      const lost = recover(dataDir, join(dataDir, databaseName), { nativeBinding });
      void (lost !== undefined && tell(lost.sentence));
    }
    // Postgres is loaded only where it is used.
    const postgres = await import('./postgres-side.ts');
    source =
      from === undefined
        ? new FileSource(join(dataDir, databaseName), nativeBinding)
        : await postgres.SchemaSource.open(from, { alone: lock !== undefined });
    const aside = join(dataDir, `before-move-${timestamp(Date.now()).replaceAll(':', '')}`);
    target =
      to === undefined
        ? new FileTarget(join(dataDir, databaseName), nativeBinding, aside)
        : await postgres.SchemaTarget.open(to, nativeBinding);
    const places = { from: source.place, to: target.place };
    const shape = await copy({ source, target, nativeBinding, tell });
    const tables = await compare(source, target, shape.tables);
    if (lock !== undefined) {
      // First, so that nobody goes on with the source when this is interrupted; the next call goes on with it.
      await source.retire(target.place);
      await complete(source, target, shape);
    }
    return { isComplete: lock !== undefined, ...places, tables };
  } finally {
    await source?.close();
    await target?.close();
    lock?.release();
  }
}

/** Undefined if svc serves the data. */
function lockUnlessServed(
  dataDir: string,
  nativeBinding: string | undefined,
): DataLock | undefined {
  try {
    return new DataLock(dataDir, { now: Date.now, nativeBinding });
  } catch (error) {
    if (error instanceof SvcError && error.reason === 'storage.folder_in_use') {
      return undefined;
    }
    throw error;
  }
}
