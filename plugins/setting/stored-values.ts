import { type Logger, messageOf, type SettingsBoard, type SettingState } from 'svc/sdk';

import { nameOf } from './setting-name.ts';
import type { SettingStore, StoredRow } from './store.ts';
import type { ValueText } from './value-text.ts';

/** What is stored for a key, in force or not. */
export interface Stored {
  readonly updatedAt: number;
  readonly updatedBy: string;
}

/** The database layer of the house's settings. */
export interface StoredValues {
  /** Reads all that is stored, and brings into force what fits. */
  refresh(): Promise<void>;
  /** The same from memory: a plugin has brought or taken keys. */
  apply(): void;
  find(name: string): Stored | undefined;
  /** Why a stored value is not in force. */
  problem(name: string): string | undefined;
}

type Held = Stored & ({ readonly value: unknown } | { readonly unreadable: string });

export function storedValues(board: SettingsBoard, store: SettingStore, text: ValueText, log: Logger): StoredValues {
  let held: ReadonlyMap<string, Held> = new Map();
  let problems: ReadonlyMap<string, string> = new Map();
  let asked = 0;
  let taken = 0;

  function apply(): void {
    const found = new Map<string, string>();
    for (const state of board.list()) {
      const problem = enforce(state, held.get(state.key));
      if (problem !== undefined) {
        found.set(state.key, problem);
        if (problems.get(state.key) !== problem) {
          log.warn({ setting: state.key, problem }, 'a stored setting is not in force');
        }
      }
    }
    problems = found;
  }

  /** Tells why a value stays out of force. */
  function enforce({ key, source, value }: SettingState, stored: Held | undefined): string | undefined {
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
      return `the stored value does not fit: ${messageOf(error)}`;
    }
  }

  function hold(row: StoredRow): Held {
    const stored = { updatedAt: row.updated_at, updatedBy: row.updated_by };
    try {
      return { ...stored, value: text.read(row) };
    } catch (error) {
      return { ...stored, unreadable: `unreadable: ${messageOf(error)}` };
    }
  }

  return {
    async refresh() {
      const turn = (asked += 1);
      const rows = await store.all();
      // Whoever asked last has seen every commit before it; an earlier answer that comes later must not undo that.
      if (turn > taken) {
        taken = turn;
        held = new Map(rows.map((row) => [nameOf(row), hold(row)]));
        apply();
      }
    },
    apply,
    find: (name) => held.get(name),
    problem: (name) => problems.get(name),
  };
}
