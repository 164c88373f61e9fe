import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import Database from 'better-sqlite3';

import { flipBit } from '../drill/flip-bit.ts';
import { inFolder, type Notes, notesMigration, openIn } from './folder.ts';

const size = 4_096;
const text = 'the value that a disk may change';

/** A stopped data folder with `text` in its only row. */
async function stopped(dir: string): Promise<{ readonly file: string; readonly at: number }> {
  const storage = await openIn(dir);
  await storage.migrate('notes', [notesMigration]);
  await storage
    .tables<Notes>('notes')
    .write((tx) => tx.insertInto('notes_note').values({ id: 1, text }).execute());
  await storage.close();
  const file = join(dir, 'svc.db');
  return { file, at: readFileSync(file).indexOf(text) };
}

async function textIn(dir: string): Promise<string> {
  const storage = await openIn(dir);
  try {
    const { text: found } = await storage
      .tables<Notes>('notes')
      .read.selectFrom('notes_note')
      .select('text')
      .executeTakeFirstOrThrow();
    return found;
  } finally {
    await storage.close();
  }
}

test('a bit that changes inside a value while svc is stopped is told with its table, again and again', () =>
  inFolder(async (dir) => {
    const { file, at } = await stopped(dir);
    flipBit(file, at);
    const page = Math.floor(at / size) + 1;
    const told = new RegExp(
      `svc\\.db has changed since svc stopped \\(page ${page} of (?:\\w+, )*\\w*notes_note\\w*\\)\\..*svc backup restore.*delete .*/clean`,
    );
    await assert.rejects(openIn(dir), told);
    await assert.rejects(openIn(dir), told, 'the first refusal has silenced nothing');
  }));

test('whoever changed the file on purpose deletes the note, and svc starts with it', () =>
  inFolder(async (dir) => {
    const { file, at } = await stopped(dir);
    flipBit(file, at);
    rmSync(join(dir, 'clean'));
    assert.notEqual(await textIn(dir), text);
    assert.notEqual(await textIn(dir), text, 'and what was taken as it is stays so');
  }));

test('a stop beside a reader notes no checksums, because the log goes into the file later', () =>
  inFolder(async (dir) => {
    await stopped(dir);
    const storage = await openIn(dir);
    const reader = new Database(join(dir, 'svc.db'));
    reader.exec('begin');
    reader.prepare('select * from notes_note').all();
    await storage
      .tables<Notes>('notes')
      .write((tx) => tx.updateTable('notes_note').set({ text: 'later' }).execute());
    await storage.close();
    reader.exec('commit');
    reader.close();
    assert.equal(await textIn(dir), 'later');
  }));

test('a page that was added or cut off is told like one that changed', () =>
  inFolder(async (dir) => {
    const { file } = await stopped(dir);
    appendFileSync(file, Buffer.alloc(size));
    const pages = statSync(file).size / size;
    await assert.rejects(
      openIn(dir),
      new RegExp(`has changed since svc stopped \\(page ${pages}\\)`),
    );
    writeFileSync(file, readFileSync(file).subarray(0, (pages - 2) * size));
    await assert.rejects(
      openIn(dir),
      new RegExp(`has changed since svc stopped \\(page ${pages - 1}\\b`),
    );
  }));

test('a bit that changes in the note itself, and a note of an earlier version, keep no data from being served', () =>
  inFolder(async (dir) => {
    await stopped(dir);
    const note = join(dir, 'clean');
    for (const at of [0, 30, 60, statSync(note).size - 2]) {
      flipBit(note, at);
      assert.equal(await textIn(dir), text, `byte ${at}`);
      assert.ok(existsSync(note));
    }
    writeFileSync(note, '2026-01-01T00:00:00.000Z\n');
    assert.equal(await textIn(dir), text);
  }));
