import assert from 'node:assert/strict';
import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { chownSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';
import { Client } from 'pg';

import { asUser, freePort, startPooler, startServer } from '../../bin/dev/test/postgres.mjs';
import type { Storage } from '../../core/storage/index.ts';
import { authorityOf } from '../cli/doctor-certificates.ts';
import { findPeer, peer } from '../peers.ts';
import { inFolder, type Notes, notesMigration, openIn } from './folder.ts';

// One server for this file: it is killed and comes back.
let folder: string;
let user: ReturnType<typeof asUser>;
let server: ChildProcess;
let port: number;

const isThere = findPeer('psql') !== undefined;

before(async () => {
  if (isThere) {
    folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
    chmodSync(folder, 0o711);
    const own = join(folder, 'server');
    mkdirSync(own);
    user = asUser(own);
    port = await freePort();
    server = await startServer(own, port, user);
  }
});

after(async () => {
  if (isThere) {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Stops it as a crash does: what it has acknowledged is in its log alone. */
async function stop(): Promise<void> {
  const gone = once(server, 'exit');
  server.kill('SIGQUIT');
  await gone;
}

let databases = 0;

async function ask(text: string): Promise<void> {
  const client = new Client(`postgres://svc@127.0.0.1:${port}/postgres`);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const urlOf = (name: string, at = port): string => `postgres://svc@127.0.0.1:${at}/${name}`;

async function withNotes(
  work: (storage: Storage, url: string, again: (url: string) => Promise<Storage>) => Promise<void>,
  at = port,
): Promise<void> {
  const name = `notes${(databases += 1)}`;
  await ask(`create database ${name}`);
  await inFolder(async (dir) => {
    const opened: Storage[] = [];
    const open = async (databaseUrl: string): Promise<Storage> => {
      const storage = await openIn(dir, { databaseUrl });
      opened.push(storage);
      return storage;
    };
    const storage = await open(urlOf(name, at));
    try {
      await storage.migrate('notes', [notesMigration]);
      await work(storage, urlOf(name, at), open);
    } finally {
      for (const one of opened) {
        await one.close();
      }
    }
  });
}

const add = (storage: Storage, ...texts: readonly string[]): Promise<void> =>
  storage.tables<Notes>('notes').write(async (tx) => {
    for (const text of texts) {
      await tx
        .insertInto('notes_note')
        .values({ text } as never)
        .execute();
    }
  });

const texts = async (storage: Storage): Promise<string[]> =>
  (
    await storage
      .tables<Notes>('notes')
      .read.selectFrom('notes_note')
      .select('text')
      .orderBy('id')
      .execute()
  ).map(({ text }) => text);

async function until(met: () => boolean | Promise<boolean>): Promise<void> {
  for (const since = performance.now(); !(await met()); await pause(20)) {
    assert.ok(performance.now() - since < 120_000, 'it never came to be');
  }
}

test('what is acknowledged is there after Postgres was killed in the middle of commits, and no half of it', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  await withNotes(async (storage) => {
    const acknowledged: string[] = [];
    let isOver = false;
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (let turn = 0; !isOver; turn++) {
        const name = `${lane}-${turn}`;
        await add(storage, `${name} a`, `${name} b`).then(
          () => acknowledged.push(name),
          () => pause(5),
        );
      }
    });
    await until(() => acknowledged.length > 200);
    await stop();
    await until(() => !storage.health().ok);
    assert.match(storage.writable() ?? '', /Postgres/);
    server = await startServer(join(folder, 'server'), port, user);
    await until(() => storage.writable() === undefined);
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + 20);
    isOver = true;
    await Promise.all(lanes);
    const found = new Set(await texts(storage));
    assert.deepEqual(
      acknowledged.filter((name) => !found.has(`${name} a`) || !found.has(`${name} b`)),
      [],
    );
    assert.deepEqual(
      [...found].filter(
        (text) => !found.has(text.replace(/.$/, (end) => (end === 'a' ? 'b' : 'a'))),
      ),
      [],
      'no half of a write',
    );
  });
});

test('while one process holds the turn, another cannot write, and its error says why', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  await withNotes(async (storage, url) => {
    const other = new Client(url);
    await other.connect();
    try {
      await other.query('begin; select from svc.core_turn for update');
      await assert.rejects(add(storage, 'meanwhile'), /Another svc process has been writing/);
      await other.query('rollback');
      await add(storage, 'afterwards');
      assert.deepEqual(await texts(storage), ['afterwards']);
    } finally {
      await other.end();
    }
  });
});

test('behind a pooler in transaction mode everything is as without', async (t) => {
  if (peer(t, 'pgbouncer') === undefined || peer(t, 'psql') === undefined) {
    return;
  }
  const pooled = await freePort();
  const pooler = await startPooler(join(folder, 'server'), port, pooled, user);
  try {
    await withNotes(async (storage, url, again) => {
      await Promise.all(Array.from({ length: 30 }, (_, index) => add(storage, `note ${index}`)));
      const notes = storage.tables<Notes>('notes');
      for (let times = 0; times < 3; times++) {
        assert.equal((await texts(storage)).length, 30);
      }
      await notes.read.transaction().execute(async (view) => {
        const count = view.selectFrom('notes_note').select(view.fn.countAll<number>().as('n'));
        const first = await count.executeTakeFirstOrThrow();
        await add(storage, 'one more');
        assert.deepEqual(await count.executeTakeFirstOrThrow(), first);
      });
      await storage.close();
      assert.equal((await texts(await again(url))).length, 31);
    }, pooled);
  } finally {
    const gone = once(pooler, 'exit');
    pooler.kill('SIGKILL');
    await gone;
  }
});

test('what is wrong with the URL, the user, the database or the certificate is said with its remedy', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const own = join(folder, 'server');
  const certificates = mkdtempSync(join(folder, 'authority-'));
  const { cert, key } = authorityOf(certificates).certificate('server', {
    names: ['localhost'],
    days: 10,
  });
  const other = mkdtempSync(join(folder, 'other-'));
  authorityOf(other);
  for (const [from, name] of [
    [cert, 'server.pem'],
    [key, 'server.key'],
  ] as const) {
    const to = join(own, 'data', name);
    copyFileSync(from, to);
    chmodSync(to, 0o600);
    if (user.uid !== undefined) {
      chownSync(to, user.uid, user.gid!);
    }
  }
  for (const [name, value] of [
    ['ssl_cert_file', 'server.pem'],
    ['ssl_key_file', 'server.key'],
    ['ssl', 'on'],
  ]) {
    await ask(`alter system set ${name} = '${value}'`);
  }
  await ask('select pg_reload_conf()');
  await ask('create database said');
  await inFolder(async (dir) => {
    const opened = async (databaseUrl: string): Promise<string> => {
      try {
        await (await openIn(dir, { databaseUrl })).close();
        return 'opened';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const secure = (authority: string): string =>
      `postgres://svc:secret@localhost:${port}/said?sslmode=verify-full&sslrootcert=${authority}/ca.pem`;
    assert.equal(await opened(secure(certificates)), 'opened');
    const said = [
      await opened(secure(other)),
      await opened(`postgres://nobody:secret@127.0.0.1:${port}/said`),
      await opened(`postgres://svc:secret@127.0.0.1:${port}/absent`),
      await opened(`postgres://svc:secret@127.0.0.1:${port}/said?sslmode=maybe`),
      await opened('mysql://svc:secret@127.0.0.1/said'),
    ];
    const expected = [
      /certificate of Postgres at localhost:\d+ cannot be verified .*sslrootcert/,
      /refuses the user "nobody"/,
      /has no database "absent".*createdb/,
      /sslmode other than disable, require, verify-ca, verify-full/,
      /not the URL of a Postgres database/,
    ];
    said.forEach((sentence, index) => {
      assert.match(sentence, expected[index]!);
      assert.doesNotMatch(sentence, /secret/);
    });
  });
});

test('hostile characters come back as U+FFFD, and a number that cannot be exact is an error', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  await withNotes(async (storage) => {
    await add(storage, 'a\0b', JSON.stringify({ name: 'x\0y\\u0000\uD800z' }));
    assert.deepEqual((await texts(storage))[0], 'a\uFFFDb');
    const { read } = storage.tables<Notes>('notes');
    const { rows } = await sql<{ name: string }>`
      select text ->> '$.name' as name from notes_note where id = 2`.execute(read);
    assert.equal(rows[0]?.name, 'x\uFFFDy\\u0000z');
    await assert.rejects(
      sql`select cast(9007199254740993 as integer) as n from notes_note`.execute(read),
      /too large to be exact/,
    );
  });
});
