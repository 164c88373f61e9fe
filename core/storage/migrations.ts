import { type Clock, messageOf } from '../sdk/index.ts';
import type { CoreTables, MigrationRow } from './core-tables.ts';
import { kyselyOver } from './sqlite/dialect.ts';
import { type Relation, relationsText, type Schema } from './engine/engine.ts';
import { errors } from './errors.ts';
import type { Groups } from './groups.ts';
import { type Migration, onlyAdds, type Script, scripts } from './migration-text.ts';
import { type Ownership, prefixOf } from './ownership.ts';
import type { Unit } from './unit.ts';

/** Keeps what was in the data folder at the start safe from migrations. */
export interface Safeguard {
  /** Called before each migration of such data. */
  beforeMigration(): Promise<void>;
  /**
   * Returns the way back to the data of an earlier version, as an instruction that follows "or";
   * undefined if there is none.
   */
  wayBack(): string | undefined;
}

interface MigratorOptions {
  readonly groups: Groups;
  readonly schema: Schema;
  readonly ownership: Ownership;
  readonly clock: Clock;
  readonly appVersion: string;
  readonly safeguard: Safeguard | undefined;
}

/** A migration may rebuild an index over everything; it runs at boot, while nobody waits. */
const deadlineMs = 3_600_000;

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
    if (applied.length === 0 && owner !== 'core') {
      this.#refuseTakeover(owner);
    }
    await this.#options.safeguard?.beforeMigration();
    for (const script of pending) {
      await this.#apply(owner, script);
    }
  }

  #relations(): Relation[] {
    return this.#options.schema.connection.prepare(relationsText).all() as Relation[];
  }

  #appliedBy(owner: string): MigrationRow[] {
    const { connection } = this.#options.schema;
    return connection
      .prepare("select 1 from sqlite_schema where name = 'core_migrations'")
      .get() !== undefined
      ? (connection
          .prepare('select * from core_migrations where plugin = ? order by number')
          .all(owner) as MigrationRow[])
      : [];
  }

  /** Throws unless the applied migrations are the known ones, byte for byte, and no more. */
  #compare(owner: string, wanted: readonly Script[], applied: readonly MigrationRow[]): void {
    const { appVersion, safeguard } = this.#options;
    applied.forEach((row, index) => {
      const script = wanted[index];
      const wayBack = safeguard?.wayBack() ?? 'restore a backup of the earlier version';
      if (script === undefined && !onlyAdds(row.name)) {
        throw errors.data_newer({
          owner,
          version: row.app_version,
          migration: row.name,
          own: appVersion,
          remedy: wayBack,
        });
      }
      if (script !== undefined && (script.sha256 !== row.sha256 || script.name !== row.name)) {
        throw errors.migration_changed({
          migration: script.name,
          owner,
          applied: row.name,
          version: row.app_version,
          next: String(wanted.length + 1).padStart(3, '0'),
          remedy: wayBack,
        });
      }
    });
  }

  /** `alert_extra_x`, made by `alert`, must not become the property of a new `alert-extra`; made by `alert-extra`, it is not in the way of a new `alert`. */
  #refuseTakeover(owner: string): void {
    const taken = this.#relations().find(({ name }) =>
      this.#options.ownership.isOwn(owner, name.toLowerCase()),
    );
    if (taken !== undefined) {
      throw errors.prefix_taken({ owner, prefix: prefixOf(owner), table: taken.name });
    }
  }

  /** All statements, the check of what they made, and the row that says so: one savepoint, one commit. */
  async #apply(owner: string, script: Script): Promise<void> {
    const { groups, schema, ownership } = this.#options;
    const text = script.statements.map((statement) => statement.text).join(';');
    const foreign = ownership.foreign(owner, text);
    if (foreign !== undefined) {
      throw errors.migration_foreign({ migration: script.name, owner, table: foreign });
    }
    try {
      await groups.run((unit) => this.#perform(unit, owner, script), {
        unitMs: deadlineMs,
        patient: true,
      });
    } catch (error) {
      throw errors.migration_failed(
        { migration: script.name, owner, cause: messageOf(error) },
        {
          cause: error,
        },
      );
    }
    await schema.refresh();
    ownership.refresh();
  }

  async #perform(unit: Unit, owner: string, script: Script): Promise<void> {
    const { schema, ownership, clock, appVersion } = this.#options;
    const before = new Set(this.#relations().map(({ name }) => name));
    const after = await schema.carryOut(script.statements, (text, parameters = []) =>
      unit.query(text, parameters),
    );
    const tx = kyselyOver<CoreTables>({
      run: (query, parameters) => unit.query(query, parameters),
    });
    for (const { name, type, strict } of after) {
      if (before.has(name) || name.startsWith('sqlite_')) {
        continue;
      }
      if (!ownership.isOwn(owner, name.toLowerCase())) {
        throw errors.table_name({ name, prefix: prefixOf(owner) });
      }
      if (type === 'table' && strict !== 1) {
        throw errors.table_not_strict({ table: name });
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
