import { type Address, addressOf } from '../../../core/storage/postgres/address.ts';
import { functionsIn } from '../../../core/storage/postgres/functions.ts';
import { open, type Way } from '../../../core/storage/postgres/line.ts';
import { Translation } from '../../../core/storage/postgres/translation.ts';
import { ownTables } from '../../../core/storage/postgres/twin.ts';
import { connect } from '../../../core/storage/sqlite/connection.ts';
import { errors } from './errors.ts';
import { keyOf, putQuery, quoted, rangeQuery } from './rows.ts';
import type { CellType, Table } from './shape.ts';
import type { Cell, Range, Row, Side, Source, Target } from './side.ts';

type Client = Awaited<ReturnType<typeof open>>;

/** Everything comes as Postgres writes it. */
const asWritten = { getTypeParser: () => (text: string) => text };
const maxParameters = 20_000;
/** A copy takes as long as it takes. */
const patience =
  "set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)";

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function cellOf(text: string | null, type: CellType): Cell {
  return text === null
    ? null
    : type === 'BLOB'
      ? Buffer.from(text.slice(2), 'hex')
      : type === 'REAL'
        ? String(Number(text))
        : text;
}

/** A schema of Postgres. */
class Schema implements Side {
  readonly place: string;
  readonly client: Client;
  readonly address: Address;
  /** Unquoted. */
  readonly schema: string;

  constructor(client: Client, address: Address, schema: string) {
    this.place = `${address.place}/${address.database} (schema ${address.schema})`;
    this.client = client;
    this.address = address;
    this.schema = schema;
  }

  nameOf(table: string): string {
    return `${quoted(this.schema)}.${quoted(table)}`;
  }

  async ask<R extends readonly (string | null)[]>(
    text: string,
    values: readonly Cell[] = [],
  ): Promise<R[]> {
    const { rows } = await this.client.query({
      text,
      values: [...values],
      rowMode: 'array',
      types: asWritten,
    });
    return rows as unknown as R[];
  }

  async definitions(): Promise<readonly string[]> {
    const found = await this.ask<[string]>(
      `select statement from ${this.nameOf('core_schema')} order by seq`,
    );
    return found.map(([text]) => text);
  }

  async rows(table: Table, range: Range): Promise<readonly Row[]> {
    const { text, cells } = rangeQuery(table, this.nameOf(table.name), range, (at) => `$${at}`);
    const rows = await this.ask(text, cells);
    return rows.map((row) => row.map((cell, at) => cellOf(cell, table.columns[at]!.type)));
  }

  async lastNumber(table: Table): Promise<bigint> {
    const { name } = table.columns[table.key[0]!]!;
    const [found] = await this.ask<[string | null]>(
      `select greatest(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), (select max(${quoted(name)}) from ${this.nameOf(table.name)}))`,
      [this.nameOf(table.name), name],
    );
    return BigInt(found?.[0] ?? 0);
  }

  async has(table: string): Promise<boolean> {
    const [found] = await this.ask<[string | null]>('select to_regclass($1)::text', [
      this.nameOf(table),
    ]);
    return found?.[0] !== null;
  }
}

const holdSeconds = 10;

/** Data of svc in Postgres, as of one moment. */
export class SchemaSource extends Schema implements Source {
  #holder: Client | undefined;

  /** `alone`: from then on nobody else writes there. */
  static async open(url: string, { alone }: { readonly alone: boolean }): Promise<SchemaSource> {
    const way: Way = { address: addressOf(url), sessions: true };
    const source = new SchemaSource(await open(way), way.address, way.address.schema);
    try {
      const isRetired = await source.has('core_moved');
      if (!isRetired && !(await source.has('core_turn'))) {
        throw errors.no_source({ place: source.place });
      }
      if (alone && !isRetired) {
        source.#holder = await open(way);
        await source.#hold(source.#holder);
      }
      await source.client.query(
        `begin isolation level repeatable read read only; select ${patience}`,
      );
      return source;
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /** Whoever writes takes the turn first, and there is none any more. */
  async retire(to: string): Promise<void> {
    await this.#holder?.query(
      `alter table ${this.nameOf('core_turn')} rename to core_moved; comment on table ${this.nameOf('core_moved')} is ${literal(to)}; commit`,
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.client.end(), this.#holder?.end()]);
  }

  async #hold(client: Client): Promise<void> {
    try {
      await client.query(
        `begin; set local lock_timeout = '${holdSeconds}s'; select ${patience}; lock table ${this.nameOf('core_turn')} in access exclusive mode`,
      );
    } catch (error) {
      throw (error as { code?: string }).code === '55P03'
        ? errors.source_busy({ place: this.place }, { cause: error })
        : error;
    }
  }
}

/** A schema that gets its name when it is complete. */
export class SchemaTarget extends Schema implements Target {
  readonly #nativeBinding: string | undefined;
  readonly #aside: string | undefined;
  #isTaken = false;

  private constructor(
    client: Client,
    address: Address,
    nativeBinding: string | undefined,
    aside: string | undefined,
  ) {
    super(client, address, `${address.schema}_moving`);
    this.#nativeBinding = nativeBinding;
    this.#aside = aside;
  }

  /** Throws if data has the name already, unless that may be kept as the schema `aside`. */
  static async open(
    url: string,
    nativeBinding: string | undefined,
    aside?: string,
  ): Promise<SchemaTarget> {
    const way: Way = { address: addressOf(url), sessions: true };
    const client = await open(way);
    const target = new SchemaTarget(client, way.address, nativeBinding, aside);
    const [taken] = await target.ask<[string | null]>('select to_regclass($1)::text', [
      `${quoted(way.address.schema)}.core_migrations`,
    ]);
    target.#isTaken = taken?.[0] !== null;
    if (aside === undefined && target.#isTaken) {
      await client.end();
      throw errors.target_taken({ place: target.place });
    }
    return target;
  }

  /** True if data of svc had the name before. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  override async definitions(): Promise<readonly string[]> {
    return (await this.has('core_schema')) ? super.definitions() : [];
  }

  async make(tables: readonly Table[], definitions: readonly string[]): Promise<void> {
    const schema = quoted(this.schema);
    const all = [...tables.map(({ definition }) => definition), ...definitions];
    await this.#inTransaction(async () => {
      await this.client.query(`drop schema if exists ${schema} cascade; create schema ${schema}`);
      await this.client.query(functionsIn(schema).text);
      await this.#carryOut(this.schema, [], ownTables);
      await this.#carryOut(this.schema, ownTables, all);
      await this.#keep(all);
    });
  }

  async put(table: Table, rows: readonly Row[]): Promise<void> {
    const width = table.columns.length;
    const atOnce = Math.max(1, Math.floor(maxParameters / width));
    for (let from = 0; from < rows.length; from += atOnce) {
      const some = rows.slice(from, from + atOnce);
      const marks = some.map(
        (row, at) => `(${row.map((_cell, column) => `$${at * width + column + 1}`).join(', ')})`,
      );
      await this.client.query(
        putQuery(table, this.nameOf(table.name), marks.join(', ')),
        some.flat(),
      );
    }
  }

  async remove(table: Table, keys: readonly Row[]): Promise<void> {
    for (const key of keys) {
      await this.client.query(
        `delete from ${this.nameOf(table.name)} where (${keyOf(table)}) = (${key.map((_cell, at) => `$${at + 1}`).join(', ')})`,
        [...key],
      );
    }
  }

  async setNumber(table: Table, last: bigint): Promise<void> {
    const name = this.nameOf(table.name);
    const [sequence] = await this.ask<[string | null]>('select pg_get_serial_sequence($1, $2)', [
      name,
      table.columns[table.key[0]!]!.name,
    ]);
    if (sequence?.[0] !== null) {
      await this.client.query(
        'select setval($1::regclass, greatest($2::bigint, 1), $2::bigint > 0)',
        [sequence?.[0], String(last)],
      );
    }
  }

  /** The new name, functions that know it, and the triggers are one commit. */
  async complete(triggers: readonly string[]): Promise<void> {
    const [moving, final] = [quoted(this.schema), quoted(this.address.schema)];
    const { text, mark } = functionsIn(final);
    const definitions = await this.definitions();
    await this.#inTransaction(async () => {
      await this.#keep(triggers);
      await this.client.query(
        this.#aside === undefined || !this.#isTaken
          ? `drop schema if exists ${final}`
          : `alter schema ${final} rename to ${quoted(this.#aside)}`,
      );
      await this.client.query(`alter schema ${moving} rename to ${final}`);
      await this.client.query(text);
      await this.#carryOut(this.address.schema, [...ownTables, ...definitions], triggers);
      await this.client.query(`insert into ${final}.core_turn values (1, $1)`, [mark]);
    });
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** Makes what `texts` define, next to what is there. */
  async #carryOut(
    schema: string,
    there: readonly string[],
    texts: readonly string[],
  ): Promise<void> {
    const connection = connect(':memory:', { nativeBinding: this.#nativeBinding });
    try {
      const translation = new Translation(schema, connection);
      there.forEach((text) => connection.exec(text));
      for (const text of texts) {
        connection.exec(text);
        translation.tables.refresh();
        await this.client.query(translation.statement(text).text);
      }
    } finally {
      connection.close();
    }
  }

  /** A start learns from them which tables there are. */
  async #keep(definitions: readonly string[]): Promise<void> {
    await this.client.query(
      `insert into ${this.nameOf('core_schema')} (statement) select unnest($1::text[])`,
      [[...definitions]],
    );
  }

  async #inTransaction(work: () => Promise<void>): Promise<void> {
    await this.client.query('begin');
    try {
      await work();
      await this.client.query('commit');
    } catch (error) {
      await this.client.query('rollback');
      throw error;
    }
  }
}
