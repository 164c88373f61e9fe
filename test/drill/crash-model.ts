import type { Storage } from '../../core/storage/index.ts';

export interface CrashTables {
  crash_writer: { writer: number; operations: number };
  crash_row: { writer: number; operation: number; text: string };
}

export const writers: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

export const crashMigration = {
  name: '001-init.sql',
  sql: `create table crash_writer (writer integer primary key, operations integer not null) strict;
        create table crash_row (writer integer not null, operation integer not null, text text not null, primary key (writer, operation)) strict`,
};

export interface WriterState {
  readonly operations: number;
  readonly rows: readonly number[];
  readonly witnessed: number;
}

/** Does one operation: a row and the count, in one write or in a write within it, now and then a delete or a witness. */
export function perform(storage: Storage, writer: number, operation: number): Promise<void> {
  const tables = storage.tables<CrashTables>('crash');
  const count = (): Promise<void> =>
    tables.write(async (tx) => {
      await tx
        .insertInto('crash_writer')
        .values({ writer, operations: operation })
        .onConflict((conflict) => conflict.column('writer').doUpdateSet({ operations: operation }))
        .execute();
    });
  const change = (): Promise<void> =>
    tables.write(async (tx) => {
      await tx
        .insertInto('crash_row')
        .values({ writer, operation, text: 'x'.repeat((operation * 37) % 3_000) })
        .execute();
      if (operation % 7 === 0) {
        await tx
          .deleteFrom('crash_row')
          .where('writer', '=', writer)
          .where('operation', '=', operation - 3)
          .execute();
      }
      await count();
    });
  return operation % 3 === 0
    ? storage.witness(
        {
          async beforeCommit(tx) {
            await tx
              .insertInto('core_idempotency')
              .values({
                key: String(operation),
                principal: String(writer),
                route: 'drill',
                request_hash: '',
                created_at: 0,
              })
              .execute();
          },
        },
        change,
      )
    : change();
}

export function expectedAfter(operations: number): WriterState {
  const all = Array.from({ length: operations }, (_, index) => index + 1);
  return {
    operations,
    rows: all.filter((operation) => operation % 7 !== 4 || operation + 3 > operations),
    witnessed: Math.floor(operations / 3),
  };
}

export async function stateOf(storage: Storage): Promise<Map<number, WriterState>> {
  await storage.migrate('crash', [crashMigration]);
  const { read } = storage.tables<CrashTables>('crash');
  const states = new Map<number, WriterState>();
  for (const writer of writers) {
    const counted = await read
      .selectFrom('crash_writer')
      .select('operations')
      .where('writer', '=', writer)
      .executeTakeFirst();
    const rows = await read
      .selectFrom('crash_row')
      .select('operation')
      .where('writer', '=', writer)
      .orderBy('operation')
      .execute();
    const witnessed = await storage
      .core()
      .read.selectFrom('core_idempotency')
      .select('key')
      .where('principal', '=', String(writer))
      .execute();
    states.set(writer, {
      operations: counted?.operations ?? 0,
      rows: rows.map(({ operation }) => operation),
      witnessed: witnessed.length,
    });
  }
  return states;
}
