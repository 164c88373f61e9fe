import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import {
  connectReader,
  connectWriter,
  assertSqlite,
} from '../../core/storage/sqlite/connection.ts';
import { peer } from '../peers.ts';
import { addonFile } from '../addon.ts';
import { inFolder, notesMigration, openIn } from './folder.ts';
import { programOf } from '../program-of.ts';

const writes = 200;

test('what is kept is private, also in a folder that everybody may look into', () =>
  inFolder(async (dir) => {
    chmodSync(dir, 0o755);
    const storage = await openIn(dir);
    await storage.core().write((tx) => tx.deleteFrom('core_idempotency').execute());
    for (const name of ['svc.db', 'svc.db-wal', 'svc.db-shm']) {
      assert.equal(statSync(join(dir, name)).mode & 0o077, 0, name);
    }
    await storage.close();
  }));

test('no write is acknowledged before the fsync of its commit', (t) =>
  inFolder(async (dir) => {
    const strace = peer(t, 'strace');
    if (strace === undefined) {
      return;
    }
    const child = fileURLToPath(new URL('./acknowledging-child.ts', import.meta.url));
    const trace = join(dir, 'trace');
    const calls = 'trace=pwrite64,fsync,fdatasync,write';
    await promisify(execFile)(
      strace,
      [
        '-f',
        '-y',
        '-e',
        calls,
        '-o',
        trace,
        process.execPath,
        ...programOf(child),
        join(dir, 'data'),
        String(writes),
      ],
      {
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    );
    const events = readFileSync(trace, 'utf8').split('\n').map(eventOf);
    const acknowledged = events.filter((event) => event === 'acknowledged').length;
    assert.equal(acknowledged, writes);
    let unsynced = 0;
    let written = 0;
    for (const event of events) {
      if (event === 'written') {
        written += 1;
        unsynced += 1;
      } else if (event === 'synced') {
        unsynced = 0;
      } else if (event === 'acknowledged') {
        assert.equal(
          unsynced,
          0,
          'what was written to the log is synced before anybody hears of it',
        );
        assert.ok(written > 0, 'each write reached the log');
        written = 0;
      }
    }
  }));

/**
 * Returns the meaning of one line of the trace; a call that another thread interrupts counts when
 * it resumes.
 */
function eventOf(line: string): 'written' | 'synced' | 'acknowledged' | undefined {
  if (/write\(1<[^>]*>, "acknowledged/.test(line)) {
    return 'acknowledged';
  }
  if (/pwrite64\(\d+<[^>]*svc\.db-wal>/.test(line)) {
    return 'written';
  }
  return /(fsync|fdatasync)(\(\d+<[^>]*svc\.db-wal>\)| resumed>\)) += 0$/.test(line)
    ? 'synced'
    : undefined;
}

test('the connections are set as durability needs them', () =>
  inFolder(async (dir) => {
    const file = join(dir, 'svc.db');
    const writer = connectWriter(file);
    const value = (connection: typeof writer, pragma: string): unknown =>
      connection.pragma(pragma, { simple: true });
    assert.equal(value(writer, 'journal_mode'), 'wal');
    assert.equal(value(writer, 'synchronous'), 2, 'FULL');
    assert.equal(value(writer, 'foreign_keys'), 1);
    assert.equal(value(writer, 'trusted_schema'), 0);
    assert.equal(value(writer, 'journal_size_limit'), 64 * 1024 * 1024);
    const reader = connectReader(file);
    assert.equal(value(reader, 'query_only'), 1);
    assert.throws(() => reader.exec('create table x (y)'), /readonly/);
    assert.throws(
      () => assertSqlite(reader, '3.999.0'),
      /is too old for safe concurrent commits: reinstall better-sqlite3/,
    );
    assertSqlite(reader, '3.9.0');
    reader.close();
    writer.close();
  }));

test('the SQLite addon may stand in a file of its own, as in the single binary', () =>
  inFolder(async (dir) => {
    const storage = await openIn(dir, { nativeBinding: addonFile });
    await storage.migrate('notes', [notesMigration]);
    await storage.close();
  }));
