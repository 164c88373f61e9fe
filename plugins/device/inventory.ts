import type { Tables } from 'svc/sdk';

import { DeviceStore } from './device-store.ts';
import { nameOf, rolesOf, tagsOf } from './shown.ts';
import type { DeviceRow, DeviceTables } from './tables.ts';

const batch = 1_000;

/** A device as far as it is searched by what it is. */
export interface Known {
  readonly id: number;
  readonly name: string;
  /** Place in the order of names. */
  readonly rank: number;
  readonly row: DeviceRow;
  readonly tags: Readonly<Record<string, string>>;
  readonly roles: readonly string[];
  /** What a word without a field is looked for in, in lower case. */
  readonly text: string;
}

/** All devices in memory, as of the last change of one: a search looks at each. */
export class Inventory {
  readonly #tables: Tables<DeviceTables>;
  #known: Promise<readonly Known[]> | undefined;

  constructor(tables: Tables<DeviceTables>) {
    this.#tables = tables;
  }

  /** A device was made, changed or removed. */
  forget(): void {
    this.#known = undefined;
  }

  /** Returns all devices, sorted by name. */
  all(): Promise<readonly Known[]> {
    const known = this.#known ?? this.#read();
    this.#known = known;
    // A failed read is repeated for the next search.
    known.catch(() => this.#known === known && this.forget());
    return known;
  }

  async #read(): Promise<readonly Known[]> {
    const store = new DeviceStore(this.#tables.read);
    const rows: DeviceRow[] = [];
    for (let after = 0; ;) {
      const page = await store.page(after, batch);
      rows.push(...page);
      if (page.length < batch) {
        break;
      }
      after = page.at(-1)!.id;
    }
    const { compare } = new Intl.Collator('en', { numeric: true });
    return rows
      .map((row) => ({ row, name: nameOf(row) }))
      .sort((a, b) => compare(a.name, b.name) || a.row.id - b.row.id)
      .map(({ row, name }, rank) => ({
        id: row.id,
        name,
        rank,
        row,
        tags: tagsOf(row),
        roles: rolesOf(row),
        text: [name, row.hostname, row.ip_address].join('\n').toLowerCase(),
      }));
  }
}
