import { existsSync } from 'node:fs';

import { type Clock, type Logger, messageOf } from '../sdk/index.ts';
import { writeDurably } from './disk/durable.ts';
import { Groups } from './groups.ts';
import type { Migration } from './migration-text.ts';
import { Migrator } from './migrations.ts';
import { Ownership } from './ownership.ts';
import { connect, madeWith } from './sqlite/connection.ts';
import { DirectWriter } from './sqlite/direct-writer.ts';
import { schemaOf } from './sqlite/schema.ts';

/** Migrations of one owner of tables. */
export interface Beginning {
  readonly owner: string;
  readonly migrations: readonly Migration[];
}

interface FirstFileOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly beginnings: () => readonly Beginning[];
  readonly appVersion: string;
  readonly nativeBinding?: string | undefined;
}

/**
 * Makes a new file with the tables of `beginnings` in memory and writes it in one piece: a commit for
 * each of eighty migrations would cost a first start a second, and the disk four times the file. What
 * cannot be made so is left to its owner's own turn, where the reason is told.
 */
export async function layFirstFile(file: string, options: FirstFileOptions): Promise<void> {
  // The log of a file that is gone must not be played into another one.
  if (existsSync(file) || existsSync(`${file}-wal`)) {
    return;
  }
  try {
    writeDurably(file, await firstContent(options));
  } catch (error) {
    options.log.warn(
      { event: 'storage.first_file_failed', cause: messageOf(error) },
      'failed to write all tables at once; they are made one by one',
    );
  }
}

async function firstContent({
  clock,
  log,
  beginnings,
  appVersion,
  nativeBinding,
}: FirstFileOptions): Promise<Buffer> {
  const connection = connect(':memory:', { nativeBinding });
  try {
    connection.pragma(madeWith);
    const migrator = new Migrator({
      groups: new Groups(new DirectWriter(connection), clock),
      schema: schemaOf(connection),
      ownership: new Ownership(connection),
      clock,
      appVersion,
      safeguard: undefined,
    });
    for (const { owner, migrations } of beginnings()) {
      await migrator
        .migrate(owner, migrations)
        .catch((error: unknown) =>
          log.debug(
            { event: 'storage.tables_left', owner, cause: messageOf(error) },
            'left the tables of a plugin to its start',
          ),
        );
    }
    return connection.serialize();
  } finally {
    connection.close();
  }
}
