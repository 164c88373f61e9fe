import { createHash } from 'node:crypto';

const { SVC_TEST_POSTGRES_PORT: port, SVC_TEST_POSTGRES_WAY: way } = process.env;

/** True if this run is about Postgres: "SVC_TEST_DATABASE=postgres npm test". */
export const overPostgres = port !== undefined;

/** Options of a test about the file of SQLite. */
export const onlySqlite = { skip: overPostgres && 'it is about the file of SQLite' };

/** The database of the house whose data folder is `dataDir`, made when it is asked for first. */
export async function databaseOf(dataDir: string): Promise<Readonly<Record<string, string>>> {
  if (!overPostgres) {
    return {};
  }
  const { Client } = await import('pg');
  const name = nameOf(dataDir);
  const client = new Client(address('postgres', port));
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } catch (error) {
    // A house that starts again finds what it had.
    if ((error as { code?: string }).code !== '42P04') {
      throw error;
    }
  } finally {
    await client.end();
  }
  return { SVC_DATABASE_URL: address(name, way) };
}

/** Name of the database of a data folder. */
export const nameOf = (dataDir: string): string =>
  `svc_${createHash('sha256').update(dataDir).digest('hex').slice(0, 24)}`;

const address = (name: string, at: string | undefined): string =>
  `postgres://svc@127.0.0.1:${at}/${name}`;
