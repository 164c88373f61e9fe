import { sql } from 'kysely';

import { type Clock, messageOf, SvcError } from '../sdk/index.ts';
import type { CoreTables, MigrationRow } from './core-tables.ts';
import { kyselyOver } from './dialect.ts';
import type { Groups } from './groups.ts';
import { type Migration, onlyAdds, type Script, scripts } from './migration-text.ts';
import { type Ownership, prefixOf } from './ownership.ts';
import type { Readers } from './readers.ts';
import type { Unit } from './unit.ts';

/** Keeps what was in the data folder at the start safe from migrations. */
export interface Safeguard {
  /** Before each migration of such data. */
  beforeMigration(): Promise<void>;
  /** How to come back to the data of an earlier version, as an order that follows "or"; undefined where there is none. */
  wayBack(): string | undefined;
}

export interface MigratorOptions {
  readonly groups: Groups;
  readonly readers: Readers;
  readonly ownership: Ownership;
  readonly clock: Clock;
  readonly appVersion: string;
  readonly safeguard: Safeguard | undefined;
}

type Relation = { readonly name: string; readonly type: string; readonly strict: number };

/** A migration may rebuild an index over everything; it runs at boot, while nobody waits. */
const deadlineMs = 3_600_000;

const relationsText = "select name, type, strict from pragma_table_list where schema = 'main'";

/** Brings the tables of one owner to the version that its code expects. */
export class Migrator {
  readonly #options: MigratorOptions;

  constructor(options: MigratorOptions) {
    this.#options = options;
  }

  async migrate(owner: string, migrations: readonly Migration[]): Promise<void> {
    const applied = this.#appliedBy(owner);
    const wanted = scripts(owner, migrations, applied.length);
    this.#compare(owner, wanted, applied);
    const pending = wanted.slice(applied.length);
    if (pending.length === 0) {
      return;
    }
    if (applied.length === 0) {
      this.#refuseTakeover(owner);
    }
    await this.#options.safeguard?.beforeMigration();
    for (const script of pending) {
      await this.#apply(owner, script);
    }
  }

  #relations(): Relation[] {
    return this.#options.readers.connection.prepare(relationsText).all() as Relation[];
  }

  #appliedBy(owner: string): MigrationRow[] {
    const { connection } = this.#options.readers;
    return connection
      .prepare("select 1 from sqlite_schema where name = 'core_migrations'")
      .get() !== undefined
      ? (connection
          .prepare('select * from core_migrations where plugin = ? order by number')
          .all(owner) as MigrationRow[])
      : [];
  }

  /** What was applied must be what is known, byte for byte, and not more. */
  #compare(owner: string, wanted: readonly Script[], applied: readonly MigrationRow[]): void {
    const { appVersion, safeguard } = this.#options;
    applied.forEach((row, index) => {
      const script = wanted[index];
      const wayBack = safeguard?.wayBack() ?? 'restore a backup of the earlier version';
      if (script === undefined && !onlyAdds(row.name)) {
        throw new SvcError(
          'conflict',
          `the data of ${owner} was written by version ${row.app_version} (migration ${row.name}), which is newer than this one, ${appVersion}: start version ${row.app_version} again, or ${wayBack}`,
          { reason: 'storage.data_newer' },
        );
      }
      if (script !== undefined && (script.sha256 !== row.sha256 || script.name !== row.name)) {
        throw new SvcError(
          'conflict',
          `migration ${script.name} of ${owner} is not the ${row.name} that version ${row.app_version} applied: put that file back and write the change as migration ${String(wanted.length + 1).padStart(3, '0')}, or ${wayBack}`,
          { reason: 'storage.migration_changed' },
        );
      }
    });
  }

  /** `alert_extra_x`, made by `alert`, must not become the property of a new `alert-extra`; made by `alert-extra`, it is not in the way of a new `alert`. */
  #refuseTakeover(owner: string): void {
    const taken = this.#relations().find(({ name }) =>
      this.#options.ownership.isOwn(owner, name.toLowerCase()),
    );
    if (taken !== undefined) {
      throw new SvcError(
        'conflict',
        `plugin ${owner} cannot use tables ${prefixOf(owner)}*: ${taken.name} belongs to another plugin. Give the plugin another id`,
        { reason: 'storage.prefix_taken' },
      );
    }
  }

  /** All statements, the check of what they made, and the row that says so: one savepoint, one commit. */
  async #apply(owner: string, script: Script): Promise<void> {
    const { groups, ownership } = this.#options;
    const text = script.statements.map((statement) => statement.text).join(';');
    const foreign = ownership.foreign(owner, text);
    if (foreign !== undefined) {
      throw new SvcError(
        'invalid_argument',
        `migration ${script.name} of ${owner} names ${foreign}, which belongs to another plugin: ask its service instead`,
      );
    }
    try {
      await groups.run((unit) => this.#perform(unit, owner, script), {
        unitMs: deadlineMs,
        patient: true,
      });
    } catch (error) {
      throw new SvcError(
        'unavailable',
        `migration ${script.name} of ${owner} failed and was rolled back: ${messageOf(error)}`,
        {
          reason: 'storage.migration_failed',
          cause: error,
        },
      );
    }
    ownership.refresh();
  }

  async #perform(unit: Unit, owner: string, script: Script): Promise<void> {
    const { ownership, clock, appVersion } = this.#options;
    const before = new Set(this.#relations().map(({ name }) => name));
    for (const statement of script.statements) {
      await unit.query(statement.text, []);
    }
    const tx = kyselyOver<CoreTables>({
      run: (query, parameters) => unit.query(query, parameters),
    });
    const after = await sql.raw<Relation>(relationsText).execute(tx);
    for (const { name, type, strict } of after.rows) {
      if (before.has(name) || name.startsWith('sqlite_')) {
        continue;
      }
      if (!ownership.isOwn(owner, name.toLowerCase())) {
        throw new SvcError('invalid_argument', `${name} must be named ${prefixOf(owner)}…`);
      }
      if (type === 'table' && strict !== 1) {
        throw new SvcError(
          'invalid_argument',
          `table ${name} must be declared STRICT, so that a column holds what its type says`,
        );
      }
    }
    await tx
      .insertInto('core_migrations')
      .values({
        plugin: owner,
        number: script.number,
        name: script.name,
        sha256: script.sha256,
        app_version: appVersion,
        applied_at: clock.now(),
      })
      .execute();
  }
}
