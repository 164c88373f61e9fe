import type { Client } from 'pg';

import type { Logger } from '../../sdk/index.ts';
import type { Engine, EngineLimits, Place, Tenure } from '../engine/engine.ts';
import { connect, type ConnectOptions } from '../sqlite/connection.ts';
import { type Address, addressOf } from './address.ts';
import { errors } from './errors.ts';
import { functionsIn } from './functions.ts';
import { open, type Way } from './line.ts';
import { ReadPool } from './read-pool.ts';
import { asKnown, mayCome, refusalOf } from './trouble.ts';
import { Twin } from './twin.ts';
import { quoted } from './words.ts';
import { WriterSession } from './writer-session.ts';

const oldest = 150_000;
/** A machine that starts everything at once starts Postgres with svc. */
const comesWithinMs = 60_000;
const askEveryMs = 500;

interface PostgresOptions {
  readonly url: string;
  readonly log: Logger;
  /** Options of the SQLite that knows the tables. */
  readonly sqlite: ConnectOptions;
  readonly tenure?: Tenure | undefined;
}

/** Finds the database of an installation; throws a sentence for one that cannot be used. */
export async function postgresAt(options: PostgresOptions): Promise<Place> {
  const way: Way = { address: addressOf(options.url), sessions: true };
  const client = await reach(way, options.log);
  try {
    await greet(client, way.address);
    const schema = quoted(way.address.schema);
    const [row] = (
      await client.query(
        'select to_regclass($1) is not null as existed, obj_description(to_regclass($2)) as moved',
        [`${schema}.core_migrations`, `${schema}.core_moved`],
      )
    ).rows as { existed: number; moved: string | null }[];
    if (row!.moved !== null) {
      throw errors.pg_moved({ place: way.address.place, to: row!.moved });
    }
    return {
      existed: row!.existed === 1,
      open: (limits) => openEngine(way, options, limits),
    };
  } finally {
    await client.end();
  }
}

async function reach(way: Way, log: Logger): Promise<Client> {
  const since = performance.now();
  for (let isTold = false; ; isTold = true) {
    try {
      return await open(way);
    } catch (error) {
      const refusal = refusalOf(error, way.address);
      if (!mayCome(error) || performance.now() - since > comesWithinMs) {
        throw refusal;
      }
      if (!isTold) {
        log.warn(
          { event: 'storage.waiting_for_postgres' },
          `${refusal.message} Trying for a minute.`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    }
  }
}

/** Throws for a server or database that cannot hold the data. */
async function greet(client: Client, { place, database }: Address): Promise<void> {
  const [told] = (
    await client.query(
      `select current_setting('server_version_num')::integer as number, current_setting('server_version') as version,
        getdatabaseencoding() as encoding, pg_is_in_recovery() as standby`,
    )
  ).rows as { number: number; version: string; encoding: string; standby: number }[];
  const { number, version, encoding, standby } = told!;
  if (number < oldest) {
    throw errors.pg_old({ place, version, oldest: oldest / 10_000 });
  }
  if (encoding !== 'UTF8') {
    throw errors.pg_encoding({ place, database, encoding });
  }
  if (standby === 1) {
    throw errors.pg_standby({ place });
  }
}

async function openEngine(
  way: Way,
  { log, sqlite, tenure }: PostgresOptions,
  { reads, stallMs }: EngineLimits,
): Promise<Engine> {
  const connection = connect(':memory:', sqlite);
  const twin = new Twin({
    way,
    connection,
    read: (text, values) => readers.own(text, values),
  });
  const readers = new ReadPool(way, twin.texts, reads);
  const schema = quoted(way.address.schema);
  const writer = new WriterSession({
    way,
    texts: twin.texts,
    schema,
    log,
    greet: (client) => greet(client, way.address),
    stallMs,
    tenure,
  });
  const close = async (): Promise<void> => {
    await writer.close();
    await readers.close();
    connection.close();
  };
  try {
    await prepare(way, schema, twin);
    await writer.connect();
    await twin.refresh();
    return { writer, readers, schema: twin, complaint: () => undefined, close };
  } catch (error) {
    await close();
    throw asKnown(error);
  }
}

/** Makes what no migration makes: the schema, the turn, and the functions of SQLite. */
async function prepare(way: Way, schema: string, twin: Twin): Promise<void> {
  const client = await open(way);
  const { text, mark } = functionsIn(schema);
  const exists = async (kind: string, name: string): Promise<boolean> =>
    (
      (await client.query(`select to_reg${kind}($1) is not null as found`, [name])).rows[0] as {
        found: number;
      }
    ).found === 1;
  try {
    await client.query('begin');
    // Two that start at once make it one after the other.
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [schema]);
    if (!(await exists('namespace', schema))) {
      await client.query(`create schema ${schema}`);
    }
    if (!(await exists('class', `${schema}.core_turn`))) {
      await client.query(
        [...twin.beginnings, `insert into ${schema}.core_turn values (1, '')`].join(';'),
      );
    }
    const [{ functions }] = (await client.query(`select functions from ${schema}.core_turn`))
      .rows as [{ functions: string }];
    if (functions !== mark) {
      await client.query(text);
      await client.query(`update ${schema}.core_turn set functions = $1`, [mark]);
    }
    await client.query('commit');
  } finally {
    await client.end();
  }
}
