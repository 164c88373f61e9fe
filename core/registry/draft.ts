import { type ErrorCatalogue } from '../sdk/index.ts';
import { errors } from './errors.ts';
import type { Generation } from './generation.ts';
import { type Entry, tableNames, type TableName, type TableTypes } from './snapshot.ts';

type DraftTables = { [N in TableName]: Map<string, Entry<TableTypes[N]>> };

/** Parts that may still change once a generation serves: values by key, as in the tables. */
export type LivePart = {
  readonly [N in 'personas' | 'skills']: ReadonlyMap<string, TableTypes[N]>;
};

/** Contributions of one generation; private until the registry publishes it. */
export class Draft {
  readonly generation: Generation;
  readonly tables: DraftTables = emptyTables();
  /** Live parts by label. */
  readonly #live = new Map<string, DraftTables>();
  #sealed = false;

  constructor(generation: Generation) {
    this.generation = generation;
  }

  add<N extends TableName>(table: N, key: string, value: TableTypes[N]): void {
    this.generation.scope.assertOpen(`${table} ${key}`);
    if (this.#sealed) {
      throw errors.declared_late({ plugin: this.generation.pluginId, table, key });
    }
    const entries: Map<string, Entry<TableTypes[N]>> = this.tables[table];
    if (entries.has(key)) {
      throw errors.declared_twice({ plugin: this.generation.pluginId, table, key });
    }
    entries.set(key, this.#entry(key, value));
  }

  /** Adds the errors of catalogues; a function that makes them would keep the code of its plugin alive, so they are copied. */
  addErrors(catalogues: readonly ErrorCatalogue[]): void {
    const errors = catalogues.flatMap((catalogue) => Object.values(catalogue));
    for (const { reason, code, status, sentence } of errors) {
      const key = `${this.generation.pluginId}/${reason}`;
      this.add('errors', key, { reason, code, status, sentence });
    }
  }

  /** Puts `part` in place of the one of this label; it is seen once the draft is published, again if it has been. */
  replace(label: string, part: LivePart): void {
    const tables = emptyTables();
    part.personas.forEach((persona, key) => tables.personas.set(key, this.#entry(key, persona)));
    part.skills.forEach((skill, key) => tables.skills.set(key, this.#entry(key, skill)));
    this.#live.set(label, tables);
  }

  /** Returns whether a key is declared, or is in a live part other than that of `label`. */
  holds(table: keyof LivePart, key: string, label: string): boolean {
    return (
      this.tables[table].has(key) ||
      [...this.#live].some(([other, tables]) => other !== label && tables[table].has(key))
    );
  }

  /** All that is to be published of a table. */
  entries<N extends TableName>(table: N): readonly Entry<TableTypes[N]>[] {
    return [this.tables, ...this.#live.values()].flatMap((tables: DraftTables) => [
      ...tables[table].values(),
    ]);
  }

  /** Ends the declaring phase. */
  seal(): this {
    this.#sealed = true;
    return this;
  }

  #entry<T>(key: string, value: T): Entry<T> {
    return Object.freeze({ key, owner: this.generation, value });
  }
}

const emptyTables = (): DraftTables =>
  Object.fromEntries(tableNames.map((name) => [name, new Map()])) as unknown as DraftTables;
