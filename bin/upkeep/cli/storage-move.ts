import { printable, table, type Command, usageFailure } from 'svc/cli';
import { withProgress } from '../../product/with-progress.ts';
import { assertHasData, openDataFolder } from '../data-folder.ts';
import { finishRestore } from '../backup/swap.ts';
import { move, type Moved } from '../move/move.ts';

export const command: Command = {
  operands: [],
  options: {
    to: {
      about:
        'URL of the Postgres database, or "folder" to move the data from Postgres back to the data folder',
      value: 'place',
    },
  },
  about:
    'Moves the database between the data folder and Postgres. While svc runs, everything up to now is copied; stop svc and run the command again to copy the rest and finish. An interrupted move continues where it was. Every row is compared before the move ends.',
  example: 'svc storage move --to postgres://svc@db.example.org/svc',

  async run(call) {
    const to = call.value('to');
    const { dataDir, product, databaseUrl } = await openDataFolder(call.environment);
    if (to === undefined) {
      throw usageFailure('set --to to the URL of a Postgres database, or to "folder"');
    }
    if (to !== 'folder' && databaseUrl !== undefined) {
      throw usageFailure(
        'SVC_DATABASE_URL is set, so the data is in Postgres already: unset it to move the data of the data folder, or use --to folder',
      );
    }
    if (to === 'folder' && databaseUrl === undefined) {
      throw usageFailure(
        'SVC_DATABASE_URL is not set: set it to the URL of the Postgres database that holds the data',
      );
    }
    assertHasData({ dataDir, databaseUrl });
    finishRestore(dataDir, product.embedded?.nativeBinding);
    const moved = await withProgress('Moving the database', () =>
      move({
        dataDir,
        product,
        from: databaseUrl,
        to: to === 'folder' ? undefined : to,
        tell: (sentence) => void process.stderr.write(`${printable(sentence)}\n`),
      }),
    );
    return {
      data: { complete: moved.isComplete, from: moved.from, to: moved.to, tables: moved.tables },
      text: () => `${tablesText(moved)}\n\n${next(moved, to)}`,
    };
  },
};

function tablesText({ tables }: Moved): string {
  const filled = tables.filter(({ rows }) => rows > 0);
  const text = table(
    filled.map(({ table: name, rows, sha256 }) => [
      `  ${printable(name)}`,
      rows === 1 ? '1 row' : `${rows} rows`,
      `sha256 ${sha256.slice(0, 16)}`,
    ]),
  );
  return `The same on both sides:\n${text}\n  and ${tables.length - filled.length} empty tables`;
}

function next({ isComplete, from, to: place }: Moved, to: string): string {
  if (!isComplete) {
    return `svc is running, so ${place} holds what there was until now, and svc still uses ${from}.\nNext: stop svc, and run this command again. It copies only what has changed since.`;
  }
  return to === 'folder'
    ? `The data is in ${place}. ${from} is kept as it was, and svc does not use it any more.\nNext: unset SVC_DATABASE_URL, and start svc.`
    : `The data is in ${place}. ${from} is kept as it was, and svc does not start with it any more.\nNext: set this, and start svc:\nSVC_DATABASE_URL=${withoutPassword(to)}`;
}

/** Hides the password: others see and store what a terminal shows. */
const withoutPassword = (url: string): string =>
  url.replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1:<password>@');
