import assert from 'node:assert/strict';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import Database from 'better-sqlite3';

import { openBlock, writeBlock } from 'svc/store';

import { type Answer, type FlippedStore, flippedStores } from '../../../drill/bit-flips-stores.ts';
import { folderOf } from './folder.ts';

/** Takes from every block what earlier versions did not write, and from the catalogue its seal. */
async function asOfEarlier(folder: string): Promise<void> {
  const blocks = join(folder, 'blocks');
  const db = new Database(join(folder, 'catalogue.db'));
  for (const name of readdirSync(blocks)) {
    const block = openBlock(join(blocks, name));
    await writeBlock(blocks, 'earlier', (writer) => {
      for (let section = 0; section < block.sections; section++) {
        if (section !== block.description) {
          writer.section(block.read(section));
        }
      }
    });
    block.close();
    renameSync(join(blocks, 'earlier'), join(blocks, name));
    db.prepare('update blocks set bytes = ? where file = ?').run(
      statSync(join(blocks, name)).size,
      name,
    );
  }
  db.close();
  rmSync(join(folder, 'catalogue.db.seal'));
}

async function answerOf(store: FlippedStore, folder: string): Promise<Answer> {
  const open = await store.open(folder);
  try {
    await open.tend();
    return await open.ask();
  } finally {
    await open.close();
  }
}

for (const store of flippedStores) {
  test(`blocks of ${store.name} that an earlier version wrote outlive their catalogue`, async (t) => {
    const folder = folderOf(t);
    await store.fill(folder);
    await asOfEarlier(folder);
    const expected = await answerOf(store, folder);
    assert.deepEqual(expected.warnings, []);
    rmSync(join(folder, 'catalogue.db'));
    assert.deepEqual(await answerOf(store, folder), expected);

    // Whoever upgrades with a catalogue that is gone already has no descriptions beside them either.
    const blocks = join(folder, 'blocks');
    readdirSync(blocks)
      .filter((name) => name.endsWith('.about'))
      .forEach((name) => rmSync(join(blocks, name)));
    rmSync(join(folder, 'catalogue.db'));
    const { text, warnings } = await answerOf(store, folder);
    // Of lines, only the catalogue knows whose they are.
    assert.equal(text === expected.text, store.name !== 'logs');
    assert.equal(warnings.length > 0, store.name === 'logs');
  });
}
