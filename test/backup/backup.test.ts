import assert from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { createBackup, verifyBackup } from '../../bin/upkeep/backup/backup.ts';
import type { Manifest } from '../../bin/upkeep/backup/manifest.ts';
import { restoreBackup } from '../../bin/upkeep/backup/restore.ts';
import { type Storage, writeKeys } from '../../core/storage/index.ts';
import { addonFile } from '../addon.ts';
import { inFolder, type Notes, notesMigration, openIn } from '../storage/folder.ts';

const product = { version: '1.0.0', root: '' };
const place = { table: 'notes_note', row: '1', column: 'text' };

const ofLive = (dir: string) => ({ dataDir: join(dir, 'live'), product });

async function opened(dir: string, texts: readonly string[] = []): Promise<Storage> {
  const storage = await openIn(dir);
  await storage.migrate('notes', [notesMigration]);
  for (const text of texts) {
    await add(storage, text);
  }
  return storage;
}

const add = (storage: Storage, text: string): Promise<unknown> =>
  storage.tables<Notes>('notes').write((tx) =>
    tx
      .insertInto('notes_note')
      .values({ text } as never)
      .execute(),
  );

const texts = async (storage: Storage): Promise<string[]> =>
  (
    await storage
      .tables<Notes>('notes')
      .read.selectFrom('notes_note')
      .select('text')
      .orderBy('id')
      .execute()
  ).map(({ text }) => text);

test('a backup made under full write load holds every write that was acknowledged before it began', () =>
  inFolder(async (dir) => {
    const storage = await opened(join(dir, 'live'));
    let stop = false;
    let acknowledged = 0;
    const writer = async (name: number): Promise<void> => {
      for (let round = 0; !stop; round++) {
        await add(storage, `${name} ${round} ${'x'.repeat(500)}`);
        acknowledged += 1;
      }
    };
    const load = Promise.all([1, 2, 3, 4].map(writer));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = acknowledged;
    const manifest = await createBackup(join(dir, 'backup'), ofLive(dir));
    const after = acknowledged;
    stop = true;
    await load;
    await storage.close();
    assert.ok(before > 0 && after > before, `writes went on meanwhile: ${before} → ${after}`);
    assert.ok(manifest.tables['notes_note']! >= before);

    assert.deepEqual(await verifyBackup(join(dir, 'backup'), product), manifest);
    const restored = join(dir, 'elsewhere');
    assert.equal((await restoreBackup(join(dir, 'backup'), restored, product)).aside, undefined);
    await assert.rejects(
      openIn(restored),
      /is missing/,
      'the key is not in it, and another is not made in silence',
    );
    const copy = await openIn(restored, { secretKeys: ['ab'.repeat(32)] });
    assert.equal((await texts(copy)).length, manifest.tables['notes_note']);
    await copy.close();
  }));

test('a manifest says what, when and by which version; the key stays out unless it is asked for', () =>
  inFolder(async (dir) => {
    const storage = await opened(join(dir, 'live'), ['one', 'two']);
    const plain = await createBackup(join(dir, 'plain'), ofLive(dir));
    assert.deepEqual(readdirSync(join(dir, 'plain')).toSorted(), ['manifest.json', 'svc.db']);
    assert.equal(plain.app_version, '1.0.0');
    assert.match(plain.sqlite, /^3\.\d+\.\d+$/);
    assert.match(plain.created_at, /^\d{4}-.*Z$/);
    assert.deepEqual(plain.tables, {
      core_idempotency: 0,
      core_migrations: 3,
      core_outbox: 0,
      core_sealed_columns: 0,
      core_superseded_keys: 0,
      notes_note: 2,
    });
    assert.equal(plain.files[0]!.bytes, statSync(join(dir, 'plain', 'svc.db')).size);
    await createBackup(join(dir, 'keyed'), { ...ofLive(dir), withKey: true });
    for (const name of ['.', 'svc.db', 'manifest.json', 'secret.key']) {
      assert.equal(
        statSync(join(dir, 'keyed', name)).mode & 0o077,
        0,
        `${name} is for its owner alone`,
      );
    }
    await assert.rejects(createBackup(join(dir, 'plain'), ofLive(dir)), /already exists/);
    await storage.close();
  }));

test('a restore brings the data and its secrets back, and keeps what was live aside', () =>
  inFolder(async (dir) => {
    const live = join(dir, 'live');
    let storage = await opened(live, ['old']);
    const sealed = storage.secrets('notes').seal(place, 'hush');
    await createBackup(join(dir, 'backup'), { ...ofLive(dir), withKey: true });
    await add(storage, 'after the backup');
    await storage.close();
    const { aside } = await restoreBackup(join(dir, 'backup'), live, product);
    storage = await openIn(live);
    assert.deepEqual(await texts(storage), ['old']);
    await storage.close();

    const other = join(dir, 'other');
    cpSync(aside!, other, { recursive: true });
    writeKeys(other, [Buffer.alloc(32, 7)]);
    storage = await openIn(other);
    assert.deepEqual(await texts(storage), ['old', 'after the backup']);
    const own = storage.secrets('notes').seal(place, 'own');
    await storage.close();

    await restoreBackup(join(dir, 'backup'), other, product);
    storage = await openIn(other);
    assert.equal(
      storage.secrets('notes').open(place, sealed),
      'hush',
      'the key came with the backup',
    );
    assert.equal(
      storage.secrets('notes').open(place, own),
      'own',
      'and did not push out the one that was there',
    );
    await storage.close();
  }));

const damages: [string, (backup: string) => void, RegExp][] = [
  [
    'a flipped bit',
    (backup) => flip(join(backup, 'svc.db'), 5_000),
    /svc\.db differs from the file that was backed up/,
  ],
  [
    'a cut file',
    (backup) => truncateSync(join(backup, 'svc.db'), 8_192),
    /svc\.db differs from the file/,
  ],
  ['a missing file', (backup) => rmSync(join(backup, 'svc.db')), /svc\.db is missing/],
  ['a missing manifest', (backup) => rmSync(join(backup, 'manifest.json')), /is not a backup/],
  [
    'a garbled manifest',
    (backup) => writeFileSync(join(backup, 'manifest.json'), '{'),
    /is not a backup/,
  ],
  [
    'an empty manifest',
    (backup) => writeFileSync(join(backup, 'manifest.json'), 'null'),
    /does not list the files/,
  ],
  [
    'a manifest that points elsewhere',
    (backup) =>
      edit(backup, (manifest) => ({
        ...manifest,
        files: [...manifest.files, { name: '../../etc/passwd', sha256: '', bytes: 0 }],
      })),
    /does not list the files/,
  ],
  [
    'a count that is wrong',
    (backup) =>
      edit(backup, (manifest) => ({ ...manifest, tables: { ...manifest.tables, notes_note: 3 } })),
    /table notes_note has 1 rows instead of 3/,
  ],
  [
    'a table that is gone',
    (backup) =>
      edit(backup, (manifest) => ({ ...manifest, tables: { ...manifest.tables, notes_gone: 3 } })),
    /table notes_gone has no rows instead of 3/,
  ],
];

test('a damaged backup is refused with the reason, and the live data is not touched', () =>
  inFolder(async (dir) => {
    const live = join(dir, 'live');
    const storage = await opened(live, ['live']);
    await createBackup(join(dir, 'good'), ofLive(dir));
    await storage.close();
    const before = readFileSync(join(live, 'svc.db'));
    for (const [what, damage, complaint] of damages) {
      const backup = join(dir, 'bad');
      cpSync(join(dir, 'good'), backup, { recursive: true });
      damage(backup);
      await assert.rejects(verifyBackup(backup, product), complaint, what);
      await assert.rejects(restoreBackup(backup, live, product), complaint, what);
      rmSync(backup, { recursive: true });
    }
    assert.ok(before.equals(readFileSync(join(live, 'svc.db'))));
    assert.deepEqual(
      readdirSync(live).filter((name) => /restore/.test(name)),
      [],
    );
  }));

test('a restore under a running service is refused with its name', () =>
  inFolder(async (dir) => {
    const storage = await opened(join(dir, 'live'), ['one']);
    await createBackup(join(dir, 'backup'), ofLive(dir));
    await assert.rejects(
      restoreBackup(join(dir, 'backup'), join(dir, 'live'), product),
      new RegExp(`in use by the svc process ${process.pid}`),
    );
    assert.deepEqual(await texts(storage), ['one']);
    await storage.close();
  }));

test('a log that a killed service left behind is not replayed into the restored data', () =>
  inFolder(async (dir) => {
    const storage = await opened(join(dir, 'live'), ['one']);
    await createBackup(join(dir, 'backup'), ofLive(dir));
    await add(storage, 'in the log only');
    const killed = join(dir, 'killed');
    cpSync(join(dir, 'live'), killed, { recursive: true, filter: (name) => !/lock/.test(name) });
    await storage.close();
    assert.ok(statSync(join(killed, 'svc.db-wal')).size > 0);
    const { aside } = await restoreBackup(join(dir, 'backup'), killed, product);
    for (const [folder, expected] of [
      [killed, ['one']],
      [aside!, ['one', 'in the log only']],
    ] as const) {
      const again = await openIn(folder, { secretKeys: ['ab'.repeat(32)] });
      assert.deepEqual(await texts(again), expected);
      await again.close();
    }
  }));

test('the SQLite addon may stand in a file of its own, as in the single binary', () =>
  inFolder(async (dir) => {
    const storage = await opened(join(dir, 'live'));
    const binary = { ...product, embedded: { nativeBinding: addonFile, plugins: new Map() } };
    const manifest = await createBackup(join(dir, 'backup'), {
      dataDir: join(dir, 'live'),
      product: binary,
    });
    assert.deepEqual(await verifyBackup(join(dir, 'backup'), binary), manifest);
    await storage.close();
  }));

test('damaged live data can be replaced, and is kept as it was found', () =>
  inFolder(async (dir) => {
    const live = join(dir, 'live');
    let storage = await opened(live, ['one']);
    await createBackup(join(dir, 'backup'), ofLive(dir));
    await storage.close();
    writeFileSync(join(live, 'svc.db'), 'this is not a database at all, whatever it was');
    await assert.rejects(
      openIn(live),
      /svc\.db has changed since svc stopped \(.*restore a backup/,
    );
    const { aside, damage } = await restoreBackup(join(dir, 'backup'), live, product);
    assert.match(damage!, /not a database/);
    assert.match(readFileSync(join(aside!, 'svc.db'), 'utf8'), /whatever it was/);
    storage = await openIn(live);
    assert.deepEqual(await texts(storage), ['one']);
    await storage.close();
  }));

test('after a kill every page is looked at, and damage stops the start with the way out', () =>
  inFolder(async (dir) => {
    const live = join(dir, 'live');
    const storage = await opened(
      live,
      Array.from({ length: 200 }, (_, index) => `${index} ${'x'.repeat(200)}`),
    );
    await storage.close();
    assert.ok(existsSync(join(live, 'clean')));
    const copy = join(dir, 'copy.db');
    copyFileSync(join(live, 'svc.db'), copy);
    for (let at = 4_096 * 8; at < statSync(copy).size; at += 97) {
      flip(join(live, 'svc.db'), at);
    }
    rmSync(join(live, 'clean'));
    await assert.rejects(openIn(live), /svc\.db is damaged \(.*restore a backup/s);
    copyFileSync(copy, join(live, 'svc.db'));
    await (await openIn(live)).close();
  }));

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = bytes[at]! ^ 0x10;
  writeFileSync(file, bytes);
}

function edit(backup: string, change: (manifest: Manifest) => Manifest): void {
  const file = join(backup, 'manifest.json');
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')) as Manifest)));
}
