import { type Logger, messageOf, type SettingsBoard, type SettingState } from 'svc/sdk';

import { nameOf } from './setting-name.ts';
import type { SettingStore, StoredRow } from './store.ts';
import type { ValueText } from './value-text.ts';

/** Value stored for a key, in force or not. */
export interface Stored {
  readonly updatedAt: number;
  readonly updatedBy: string;
}

type Held = Stored & ({ readonly value: unknown } | { readonly unreadable: string });

export interface StoredValuesParts {
  readonly board: SettingsBoard;
  readonly store: SettingStore;
  readonly text: ValueText;
  readonly log: Logger;
}

/** The database layer of the settings. */
export class StoredValues {
  readonly #parts: StoredValuesParts;
  #held: ReadonlyMap<string, Held> = new Map();
  #problems: ReadonlyMap<string, string> = new Map();
  #asked = 0;
  #taken = 0;

  constructor(parts: StoredValuesParts) {
    this.#parts = parts;
  }

  /** Reads everything stored, and applies valid values. */
  async refresh(): Promise<void> {
    const turn = (this.#asked += 1);
    const rows = await this.#parts.store.all();
    // The last reading has seen every commit before it; an earlier answer that comes later must not undo that.
    if (turn > this.#taken) {
      this.#taken = turn;
      this.#held = new Map(rows.map((row) => [nameOf(row), this.#hold(row)]));
      this.apply();
    }
  }

  /** Applies stored values from memory, after a plugin has added or removed keys. */
  apply(): void {
    const found = new Map<string, string>();
    for (const state of this.#parts.board.list()) {
      const problem = this.#enforce(state, this.#held.get(state.key));
      if (problem !== undefined) {
        found.set(state.key, problem);
        if (this.#problems.get(state.key) !== problem) {
          this.#parts.log.warn(
            { event: 'setting.not_in_force', setting: state.key, problem },
            'stored setting is not in effect',
          );
        }
      }
    }
    this.#problems = found;
  }

  find(name: string): Stored | undefined {
    return this.#held.get(name);
  }

  /** Why a stored value is not in force. */
  problem(name: string): string | undefined {
    return this.#problems.get(name);
  }

  /** Tells why a value stays out of force. */
  #enforce({ key, source, value }: SettingState, stored: Held | undefined): string | undefined {
    const { board } = this.#parts;
    if (stored === undefined || 'unreadable' in stored) {
      if (source === 'database') {
        board.override(key, undefined);
      }
      return stored?.unreadable;
    }
    if (source === 'database' && JSON.stringify(value) === JSON.stringify(stored.value)) {
      return undefined;
    }
    try {
      board.override(key, stored.value);
      return undefined;
    } catch (error) {
      board.override(key, undefined);
      return `the stored value is invalid: ${messageOf(error)}`;
    }
  }

  #hold(row: StoredRow): Held {
    const stored = { updatedAt: row.updated_at, updatedBy: row.updated_by };
    try {
      return { ...stored, value: this.#parts.text.read(row) };
    } catch (error) {
      return { ...stored, unreadable: `unreadable: ${messageOf(error)}` };
    }
  }
}
