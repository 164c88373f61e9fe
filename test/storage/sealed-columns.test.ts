import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SealedTable } from 'svc/sdk';

import { onlyDeclared, type Storage } from '../../core/storage/index.ts';
import { fill, type RotationTables } from '../drill/rotation-model.ts';
import { inFolder, openIn, withStorage } from './folder.ts';
import { undeclaredSeals } from './sealed-places.ts';

const declarations: readonly [what: string, declared: SealedTable, sentence: RegExp][] = [
  [
    'a table of another plugin',
    { table: 'core_outbox', row: 'id', columns: ['payload'] },
    /the table core_outbox, which is not its own/,
  ],
  [
    'a table that is not there',
    { table: 'drill_none', row: 'id', columns: ['secret'] },
    /the table drill_none, which its migrations do not create/,
  ],
  [
    'a column that is not there',
    { table: 'drill_vault', row: 'id', columns: ['secrets'] },
    /drill_vault\.secrets, which its migrations do not create/,
  ],
  [
    'a row that is not unique',
    { table: 'drill_vault', row: 'note', columns: ['secret'] },
    /note of drill_vault as its row, which is neither the primary key nor unique/,
  ],
  [
    'half of a row',
    { table: 'drill_pair', row: 'one', columns: ['secret'] },
    /one of drill_pair as its row/,
  ],
];

for (const [what, declared, sentence] of declarations) {
  test(`a declaration that names ${what} is refused when the plugin comes up`, () =>
    withStorage(async (storage) => {
      await fill(storage);
      await assert.rejects(
        storage.declareSealed('drill', [declared]),
        (error: Error & { code: string }) =>
          error.code === 'invalid_argument' && sentence.test(error.message),
      );
    }));
}

test('a plugin can seal only where it has declared, and what was slipped past is found in the file', () =>
  inFolder(async (dir) => {
    let storage: Storage = await openIn(dir);
    await fill(storage);
    const elsewhere = { table: 'drill_vault', row: '1', column: 'note' };
    const secrets = onlyDeclared(storage.secrets('drill'), 'drill', [
      { table: 'drill_vault', row: 'id', columns: ['secret'] },
    ]);
    assert.throws(() => secrets.seal(elsewhere, 'hush'), {
      code: 'internal',
      message:
        /^drill stores sealed values in drill_vault\.note, which its plugin\.json does not list; add it to "sealed"/,
    });
    assert.equal(
      secrets.open(
        { ...elsewhere, column: 'secret' },
        secrets.seal({ ...elsewhere, column: 'secret' }, 'hush'),
      ),
      'hush',
    );
    await storage.close();
    assert.deepEqual(undeclaredSeals(dir), []);

    storage = await openIn(dir);
    const note = JSON.stringify({ copied: storage.secrets('drill').seal(elsewhere, 'hush') });
    await storage
      .tables<RotationTables>('drill')
      .write((tx) => tx.updateTable('drill_vault').set({ note }).where('id', '=', 1).execute());
    await storage.close();
    assert.deepEqual(undeclaredSeals(dir), ['drill_vault.note']);
  }));
