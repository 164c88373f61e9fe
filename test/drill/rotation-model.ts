import type { Storage } from '../../core/storage/index.ts';
import { Rotation } from '../../plugins/keys/rotation.ts';
import { silent } from '../storage/folder.ts';

export interface RotationTables {
  drill_vault: { id: number; secret: string; note: string };
  drill_pair: { one: string; other: string; secret: string | null };
}

export const rotationMigration = {
  name: '001-init.sql',
  sql: `create table drill_vault (id integer primary key, secret text not null, note text not null) strict;
        create table drill_pair (one text not null, other text not null, secret text, primary key (one, other)) strict, without rowid`,
};

/** Creates a rotation like the plugin's, over a storage. */
export const rotationOf = (storage: Storage): Rotation => new Rotation(storage.keys, silent);

export const sealed = [
  { table: 'drill_vault', row: 'id', columns: ['secret'] },
  { table: 'drill_pair', row: 'one|other', columns: ['secret'] },
];

const vaultPlace = (id: number) => ({ table: 'drill_vault', row: String(id), column: 'secret' });
const pairPlace = (one: string, other: string) => ({
  table: 'drill_pair',
  row: `${one}|${other}`,
  column: 'secret',
});

/** Makes the tables of a plugin that seals in two of them, with more rows than one step of a rotation takes. */
export async function fill(storage: Storage, rows = 150): Promise<void> {
  await storage.migrate('drill', [rotationMigration]);
  await storage.declareSealed('drill', sealed);
  const secrets = storage.secrets('drill');
  await storage.tables<RotationTables>('drill').write(async (tx) => {
    for (let id = 1; id <= rows; id++) {
      const secret = secrets.seal(vaultPlace(id), `vault ${id}`);
      await tx.insertInto('drill_vault').values({ id, secret, note: 'v1.is not sealed' }).execute();
    }
    for (const one of ['a', 'b', 'c']) {
      await tx
        .insertInto('drill_pair')
        .values({
          one,
          other: 'set',
          secret: secrets.seal(pairPlace(one, 'set'), `pair ${one}`),
        })
        .execute();
      await tx.insertInto('drill_pair').values({ one, other: 'empty', secret: null }).execute();
    }
  });
}

/** The id of the key that seals now. */
export const newestKey = (storage: Storage): string =>
  keyOf(storage.secrets('drill').seal(vaultPlace(0), ''));

/** Opens every secret, and tells how many each key has sealed; throws at the first that is not what was put in. */
export async function openAll(storage: Storage): Promise<ReadonlyMap<string, number>> {
  const { read } = storage.tables<RotationTables>('drill');
  const secrets = storage.secrets('drill');
  const counts = new Map<string, number>();
  const look = (text: string, plain: string, expected: string): void => {
    if (plain !== expected) {
      throw new Error(`found "${plain}" in the place of "${expected}"`);
    }
    counts.set(keyOf(text), (counts.get(keyOf(text)) ?? 0) + 1);
  };
  for (const { id, secret, note } of await read.selectFrom('drill_vault').selectAll().execute()) {
    look(secret, secrets.open(vaultPlace(id), secret), `vault ${id}`);
    if (note !== 'v1.is not sealed') {
      throw new Error('a column that holds no secrets was touched');
    }
  }
  for (const { one, other, secret } of await read
    .selectFrom('drill_pair')
    .selectAll()
    .where('secret', 'is not', null)
    .execute()) {
    look(secret!, secrets.open(pairPlace(one, other), secret!), `pair ${one}`);
  }
  return counts;
}

const keyOf = (sealed: string): string => sealed.split('.')[1]!;
