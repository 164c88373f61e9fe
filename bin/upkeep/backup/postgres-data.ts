import type { Product } from '../../../core/boot/index.ts';
import { connect } from '../../../core/storage/sqlite/connection.ts';
import { compare, complete, copy } from '../move/copy.ts';
import { FileSource, FileTarget } from '../move/sqlite-side.ts';
import { type Inspection, inspect } from './inspection.ts';

/** Writes what Postgres holds at one moment into a file of SQLite: a backup is the same, wherever its data came from. */
export async function copyFromPostgres(
  url: string,
  file: string,
  { embedded }: Product,
): Promise<Inspection> {
  const nativeBinding = embedded?.nativeBinding;
  const { SchemaSource } = await import('../move/postgres-side.ts');
  const source = await SchemaSource.open(url, { alone: false });
  try {
    const target = new FileTarget(file, nativeBinding);
    try {
      const shape = await copy({ source, target, nativeBinding, tell: () => undefined });
      await compare(source, target, shape.tables);
      await complete(source, target, shape);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  const written = connect(file, { nativeBinding });
  written.pragma('journal_mode = DELETE');
  written.close();
  return inspect(file, nativeBinding);
}

/**
 * Brings the file of a backup into Postgres, next to what is there. Returns what puts it in the place of that, which is kept as the
 * schema `aside`.
 */
export async function bringToPostgres(
  file: string,
  url: string,
  aside: string,
  { embedded }: Product,
): Promise<{
  readonly hadData: boolean;
  readonly swap: () => Promise<void>;
  readonly close: () => Promise<void>;
}> {
  const nativeBinding = embedded?.nativeBinding;
  const { SchemaTarget } = await import('../move/postgres-side.ts');
  const source = new FileSource(file, nativeBinding);
  const target = await SchemaTarget.open(url, nativeBinding, aside).catch(
    async (error: unknown) => {
      await source.close();
      throw error;
    },
  );
  const close = async (): Promise<void> => {
    await source.close();
    await target.close();
  };
  try {
    const shape = await copy({ source, target, nativeBinding, tell: () => undefined });
    await compare(source, target, shape.tables);
    return { hadData: target.isTaken, swap: () => complete(source, target, shape), close };
  } catch (error) {
    await close();
    throw error;
  }
}
