import { createHash } from 'node:crypto';

import type { Persona, Tables } from 'svc/sdk';

import { personaStore, type PersonaTables, type VersionRow } from './store.ts';

/** Number of changes of each persona, kept across restarts. */
export class Versions {
  readonly #tables: Tables<PersonaTables>;
  readonly #later: (save: () => Promise<void>) => void;
  readonly #known = new Map<string, VersionRow>();
  #unsaved = new Map<string, VersionRow>();

  constructor(tables: Tables<PersonaTables>, later: (save: () => Promise<void>) => void) {
    this.#tables = tables;
    this.#later = later;
  }

  async load(): Promise<void> {
    const rows = await personaStore(this.#tables.read).versions();
    rows.forEach((row) => this.#known.set(row.name, row));
  }

  /** One more than before when anything in the persona is another. */
  of(persona: Persona): number {
    const { name } = persona;
    const digest = createHash('sha256').update(JSON.stringify(persona)).digest('hex');
    const known = this.#known.get(name);
    if (known?.digest === digest) {
      return known.version;
    }
    const row = { name, digest, version: (known?.version ?? 0) + 1 };
    this.#known.set(name, row);
    this.#unsaved.set(name, row);
    if (this.#unsaved.size === 1) {
      this.#later(() => this.#save());
    }
    return row.version;
  }

  /** Deletes counts; the next persona of such a name starts at zero. */
  async forget(names: readonly string[]): Promise<void> {
    names.forEach((name) => (this.#known.delete(name), this.#unsaved.delete(name)));
    if (names.length > 0) {
      await this.#tables.write((tx) => personaStore(tx).forget(names));
    }
  }

  async #save(): Promise<void> {
    // One turn later, so that all of one look are in.
    await Promise.resolve();
    const rows = this.#unsaved;
    this.#unsaved = new Map();
    await this.#tables.write(async (tx) => {
      for (const row of rows.values()) {
        await personaStore(tx).keep(row);
      }
    });
  }
}
