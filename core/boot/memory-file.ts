import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { HostMemory, QuarantineEntry } from '../host/index.ts';
import { SvcError } from '../sdk/index.ts';

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
  const save = (durable: boolean): void => replaceFile(file, JSON.stringify(state, null, 2), durable);
  save(true);
  return {
    disabled: () => new Map(Object.entries(state.disabled)),
    quarantined: () => new Map(Object.entries(state.quarantined)),
    lastDeath: () => state.death,
    setDisabled(id, cause) {
      assign(state.disabled, id, cause);
      if (state.death?.id === id) {
        state.death = undefined;
      }
      save(true);
    },
    setQuarantine(id, entry) {
      assign(state.quarantined, id, entry);
      save(true);
    },
    setActivating(id) {
      if (id === undefined && state.death?.id === state.activating) {
        state.death = undefined;
      }
      state.activating = id;
      // Not synced: it must survive the death of this process, not of the machine.
      save(false);
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

export function replaceFile(file: string, content: string, durable: boolean): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.new`;
  const handle = openSync(draft, 'w', 0o600);
  writeSync(handle, content);
  if (durable) {
    fsyncSync(handle);
  }
  closeSync(handle);
  renameSync(draft, file);
}
