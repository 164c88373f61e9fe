import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Client } from 'pg';

import { postgresFor } from '../../bin/dev/test/postgres.mjs';
import { peer } from '../peers.ts';

let running: ReturnType<typeof postgresFor> | undefined;

/** A new database of a real Postgres, which the tests of this process share; undefined where there is none. */
export async function newDatabase(t: TestContext, name: string): Promise<string | undefined> {
  if (peer(t, 'psql') === undefined) {
    return undefined;
  }
  running ??= start();
  const { env } = await running;
  const place = `postgres://svc@127.0.0.1:${env['SVC_TEST_POSTGRES_PORT']}`;
  await onceStarted(() => ask(`${place}/postgres`, `create database ${name}`));
  return `${place}/${name}`;
}

/** Postgres runs as another user, who has to come through. */
function start(): ReturnType<typeof postgresFor> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cluster-'));
  chmodSync(folder, 0o711);
  return postgresFor(folder, { SVC_TEST_DATABASE: 'postgres' });
}

/** It listens before it answers. */
async function onceStarted(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== '57P03') {
        throw error;
      }
      await pause(50);
    }
  }
}

after(async () => (await running)?.end());

/** The rows that a statement answers with, over a connection of its own. */
export async function ask<R>(url: string, text: string): Promise<R[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows as R[];
  } finally {
    await client.end();
  }
}
