import type { DeviceNames } from 'svc/contracts/device';
import type { NamesById } from 'svc/query';
import { type Logger, messageOf, type Tables } from 'svc/sdk';

import { DeviceStore } from './store/device-store.ts';
import { nameOf } from './shown.ts';
import type { DeviceTables } from './store/tables.ts';

const batch = 1_000;

/** Copy of the names of all devices, for texts that are rendered while nothing can be awaited. */
export class Names implements DeviceNames {
  readonly #tables: Tables<DeviceTables>;
  readonly #log: Logger;
  readonly #changed: () => void;
  readonly #names = new Map<string, string>();
  readonly #noted = new Set<number>();

  /** Takes a callback for when a name has changed. */
  constructor(tables: Tables<DeviceTables>, log: Logger, changed: () => void) {
    this.#tables = tables;
    this.#log = log;
    this.#changed = changed;
  }

  nameOf(id: string): string | undefined {
    return this.#names.get(id);
  }

  all(): NamesById {
    return [...this.#names];
  }

  idsNamed(matches: (name: string) => boolean): readonly string[] {
    return [...this.#names].filter(([, name]) => matches(name)).map(([id]) => id);
  }

  /** Reads all names; before anyone asks for one. */
  async load(): Promise<void> {
    const store = new DeviceStore(this.#tables.read);
    for (let after = 0; ;) {
      const rows = await store.page(after, batch);
      rows.forEach((row) => this.#names.set(String(row.id), nameOf(row)));
      if (rows.length < batch) {
        this.#changed();
        return;
      }
      after = rows.at(-1)!.id;
    }
  }

  /** Notes that a device was created, changed or removed. */
  note(id: number): void {
    this.#noted.add(id);
  }

  /** Reads the noted devices again. False if that failed, to be retried; until then the old names stay. */
  async catchUp(): Promise<boolean> {
    const ids = [...this.#noted].slice(0, batch);
    ids.forEach((id) => this.#noted.delete(id));
    try {
      const rows = await new DeviceStore(this.#tables.read).many(ids);
      const now = new Map(rows.map((row) => [String(row.id), nameOf(row)]));
      const isOther = ids.some((id) => this.#names.get(String(id)) !== now.get(String(id)));
      ids.forEach((id) => this.#names.delete(String(id)));
      now.forEach((name, id) => this.#names.set(id, name));
      if (isOther) {
        this.#changed();
      }
      return this.#noted.size === 0;
    } catch (error) {
      ids.forEach((id) => this.#noted.add(id));
      this.#log.warn(
        { event: 'device.names_not_read', cause: messageOf(error) },
        'failed to read changed device names; retrying',
      );
      return false;
    }
  }
}
