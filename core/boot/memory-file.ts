import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { HostMemory, QuarantineEntry } from '../host/index.ts';
import { SvcError } from '../sdk/index.ts';
import { writeDurably } from '../storage/index.ts';

interface Remembered {
  disabled: Record<string, string>;
  quarantined: Record<string, QuarantineEntry>;
  /** Plugin being brought up by the boot that wrote this; still there after a boot that died in it. */
  activating?: string | undefined;
  death?: { id: string; boots: number } | undefined;
}

/** The host's memory as one small JSON file, replaced by rename so that a kill leaves the old or the new one. */
export function memoryFile(dataDir: string): HostMemory {
  const file = join(dataDir, 'plugins.json');
  const state = recall(file);
  rememberDeath(state);
  const save = (): void => writeDurably(file, JSON.stringify(state, null, 2));
  save();
  return {
    disabled: () => new Map(Object.entries(state.disabled)),
    quarantined: () => new Map(Object.entries(state.quarantined)),
    lastDeath: () => state.death,
    setDisabled(id, cause) {
      assign(state.disabled, id, cause);
      if (state.death?.id === id) {
        state.death = undefined;
      }
      save();
    },
    setQuarantine(id, entry) {
      assign(state.quarantined, id, entry);
      save();
    },
    setActivating(id) {
      // The one before has come through.
      if (state.activating !== undefined && state.death?.id === state.activating) {
        state.death = undefined;
      }
      state.activating = id;
      // Not synced: it must survive the death of this process, not of the machine.
      replaceFile(file, JSON.stringify(state, null, 2));
    },
  };
}

function recall(file: string): Remembered {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { disabled: {}, quarantined: {} };
    }
    throw error;
  }
  try {
    const { disabled, quarantined, activating, death } = JSON.parse(text) as Partial<Remembered>;
    return { disabled: disabled ?? {}, quarantined: quarantined ?? {}, activating, death };
  } catch (cause) {
    throw new SvcError('invalid_argument', `${file} is damaged; delete it to forget which plugins were disabled or quarantined`, { cause });
  }
}

/** A marker that is still set means the last boot died in that plugin. */
function rememberDeath(state: Remembered): void {
  const id = state.activating;
  if (id !== undefined) {
    state.death = { id, boots: state.death?.id === id ? state.death.boots + 1 : 1 };
    state.activating = undefined;
  }
}

function assign<T>(target: Record<string, T>, id: string, value: T | undefined): void {
  if (value === undefined) {
    delete target[id];
  } else {
    target[id] = value;
  }
}

/** Whole or not at all for whoever reads it, without waiting for the disk. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.new`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, file);
}
