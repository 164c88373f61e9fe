import { type DeviceScope, deviceScope, type ScopeSource } from 'svc/query';
import type { Tables } from 'svc/sdk';

import { type DeviceFilter, DeviceStore } from './store/device-store.ts';
import type { DeviceTables } from './store/tables.ts';

/** Selectors that are kept at a time; there are as many as there are kinds of members. */
const maxKept = 1_000;

/** Devices that match the selectors of organizations, as of the last change of a device. */
export class Scopes implements ScopeSource {
  readonly #tables: Tables<DeviceTables>;
  readonly #kept = new Map<string, Promise<DeviceScope>>();

  constructor(tables: Tables<DeviceTables>) {
    this.#tables = tables;
  }

  /** The devices that fit any of them. */
  of(selectors: readonly string[]): Promise<DeviceScope> {
    const key = JSON.stringify(selectors);
    const known = this.#kept.get(key);
    if (known) {
      return known;
    }
    if (this.#kept.size >= maxKept) {
      this.#kept.clear();
    }
    const found = this.#find(selectors);
    this.#kept.set(key, found);
    // A failed read is repeated for the next query.
    found.catch(() => this.#kept.get(key) === found && this.#kept.delete(key));
    return found;
  }

  /** A device was made, changed or removed. */
  forget(): void {
    this.#kept.clear();
  }

  async #find(selectors: readonly string[]): Promise<DeviceScope> {
    const store = new DeviceStore(this.#tables.read);
    const found = await Promise.all(selectors.map((selector) => store.fitting(filterOf(selector))));
    return deviceScope(found.flat());
  }
}

/** Parses comma-separated terms: `tag`, `tag=value` or `role:name`, all of which must hold. */
function filterOf(selector: string): DeviceFilter {
  const terms = selector.split(',');
  const roles = terms.flatMap((term) =>
    term.startsWith('role:') ? [term.slice('role:'.length)] : [],
  );
  const tags = terms.filter((term) => !term.startsWith('role:')).map(tagOf);
  return { tags, roles };
}

/** `env`, or `env=prod`. */
export function tagOf(text: string): { key: string; value?: string } {
  const equals = text.indexOf('=');
  return equals < 0 ? { key: text } : { key: text.slice(0, equals), value: text.slice(equals + 1) };
}
