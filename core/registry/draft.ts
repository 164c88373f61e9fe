import { SvcError } from '../sdk/index.ts';
import type { Generation } from './generation.ts';
import { type Entry, tableNames, type TableName, type TableTypes } from './snapshot.ts';

type DraftTables = { [N in TableName]: Map<string, Entry<TableTypes[N]>> };

/** What one generation wants to add; private until the registry publishes it. */
export class Draft {
  readonly generation: Generation;
  readonly tables: DraftTables;
  #sealed = false;

  constructor(generation: Generation) {
    this.generation = generation;
    this.tables = Object.fromEntries(tableNames.map((name) => [name, new Map()])) as unknown as DraftTables;
  }

  add<N extends TableName>(table: N, key: string, value: TableTypes[N]): void {
    if (this.#sealed) {
      throw new SvcError('conflict', `${this.generation.pluginId} declares ${table} "${key}" after activate() has returned; declare it inside activate()`);
    }
    const entries: Map<string, Entry<TableTypes[N]>> = this.tables[table];
    if (entries.has(key)) {
      throw new SvcError('conflict', `${this.generation.pluginId} declares ${table} "${key}" twice`);
    }
    entries.set(key, Object.freeze({ key, owner: this.generation, value }));
  }

  /** Ends the declaring phase. */
  seal(): this {
    this.#sealed = true;
    return this;
  }
}
