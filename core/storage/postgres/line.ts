import { Client, type ClientConfig } from 'pg';

import type { Outcome } from '../engine/engine.ts';
import type { Address } from './address.ts';
import type { Translation, Translated } from './translation.ts';
import { received, sent } from './values.ts';

/** Way to Postgres, with all that has been learnt about it. */
export interface Way {
  readonly address: Address;
  /** False once it is known that others share the sessions, so that nothing set or prepared in one stays. */
  sessions: boolean;
}

export const connectMs = 5_000;
export const statementMs = 30_000;

export function configOf({ address, sessions }: Way): ClientConfig {
  const { host, port, user, password, database, ssl, applicationName } = address;
  return {
    host,
    port,
    user,
    password,
    database,
    ssl,
    application_name: applicationName,
    client_encoding: 'UTF8',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types: received,
    // A pooler refuses it, which tells that there is one.
    ...(sessions && { statement_timeout: statementMs }),
  };
}

export const isPooler = (error: unknown): boolean =>
  /unsupported startup parameter/i.test((error as Error).message) ||
  /^(?:26000|42P05)$/.test(String((error as { code?: unknown }).code));

/** Opens a connection; that a pooler is in between is found out on the way. */
export async function open(way: Way, more: ClientConfig = {}): Promise<Client> {
  const client = new Client({ ...configOf(way), ...more });
  // Told by whoever waits for it; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    if (way.sessions && isPooler(error)) {
      way.sessions = false;
      return open(way, more);
    }
    throw error;
  }
}

const remembered = 2_048;
const preparedAtMost = 1_000;

interface Known extends Translated {
  /** Name under which connections keep it prepared: it came twice. */
  name?: string;
  times: number;
}

/** The statements that have been asked, each translated once. */
export class Texts {
  readonly #translation: Translation;
  readonly #way: Way;
  readonly #known = new Map<string, Known>();
  #prepared = 0;

  constructor(translation: Translation, way: Way) {
    this.#translation = translation;
    this.#way = way;
  }

  forget(): void {
    this.#known.clear();
  }

  /** Translates a definition while the tables it speaks of are there to be looked at. */
  learn(sql: string): void {
    this.of(sql).times = 0;
  }

  of(sql: string): Known {
    let known = this.#known.get(sql);
    if (known === undefined) {
      known = { ...this.#translation.statement(sql), times: 0 };
      if (this.#known.size >= remembered) {
        this.#known.delete(this.#known.keys().next().value!);
      }
      this.#known.set(sql, known);
    }
    known.times += 1;
    if (known.name === undefined && known.times > 1 && this.#prepared < preparedAtMost) {
      this.#prepared += 1;
      known.name = `svc${this.#prepared}`;
    }
    return known;
  }

  /** Asks a statement over one connection. */
  async ask(
    client: Pick<Client, 'query'>,
    sql: string,
    parameters: readonly unknown[],
  ): Promise<Outcome> {
    const { text: usual, name, isReader, numbered, after } = this.of(sql);
    const text = parameters.some(isFraction) ? withFractions(usual, parameters) : usual;
    const isKept =
      this.#way.sessions && this.#way.address.prepare && name !== undefined && text === usual;
    const asked = client.query({ text, values: parameters.map(sent), ...(isKept && { name }) });
    const [{ rows, rowCount }] = await Promise.all([
      asked,
      after === undefined ? undefined : client.query(after),
    ]);
    if (isReader) {
      return { rows };
    }
    const last =
      numbered === undefined ? undefined : (rows as Record<string, number>[]).at(-1)?.[numbered];
    return { rows: [], changes: rowCount ?? 0, ...(last !== undefined && { insertId: last }) };
  }
}

const isFraction = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && !Number.isSafeInteger(value);

/** Lets a number with a fraction meet a whole one, as in SQLite. */
const withFractions = (text: string, parameters: readonly unknown[]): string =>
  text.replace(/\$(\d+)/g, (place, at) =>
    isFraction(parameters[Number(at) - 1]) ? `${place}::double precision` : place,
  );
