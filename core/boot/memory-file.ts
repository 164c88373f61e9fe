import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import type { HostMemory, QuarantineEntry } from '../host/index.ts';
import { writeDurably } from '../storage/index.ts';
import { errors } from './errors.ts';

interface Remembered {
  disabled: Record<string, string>;
  quarantined: Record<string, QuarantineEntry>;
  held: Record<string, string>;
  death?: { id: string; boots: number } | undefined;
}

/** Max length of an id, as in manifests. */
const longestId = 41;

/**
 * Stores the host's memory as one small JSON file, replaced by rename so that a kill leaves the old
 * or the new one, with a marker next to it.
 */
export function memoryFile(dataDir: string): HostMemory {
  const file = join(dataDir, 'plugins.json');
  const marker = join(dataDir, 'plugins.activating');
  const state = recall(file);
  const save = (): void =>
    writeDurably(file, JSON.stringify({ ...state, sum: sumOf(state) }, null, 2));
  let activating = readText(marker)?.trim();
  if (activating) {
    // The last boot died in that plugin.
    state.death = {
      id: activating,
      boots: state.death?.id === activating ? state.death.boots + 1 : 1,
    };
    save();
    activating = undefined;
  }
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
      tried(save);
    },
    held: (id) => (Object.hasOwn(state.held, id) ? state.held[id] : undefined),
    setHeld(id, hash) {
      if (state.held[id] !== hash) {
        assign(state.held, id, hash);
        save();
      }
    },
    setActivating(id) {
      // The one before has come through.
      if (activating !== undefined && state.death?.id === activating) {
        state.death = undefined;
        tried(save);
      }
      activating = id;
      tried(() => mark(marker, id));
    },
  };
}

/** Writes what only a later start would miss: a disk that takes no writes keeps no plugin from starting or ending. */
function tried(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) {
      throw error;
    }
  }
}

function recall(file: string): Remembered {
  try {
    const { sum, ...state } = JSON.parse(readText(file) ?? '{}') as Partial<Remembered> & {
      // An earlier version wrote none.
      readonly sum?: number;
    };
    if (sum !== undefined && sum !== sumOf(state)) {
      throw new Error('its checksum does not match');
    }
    const { disabled, quarantined, held, death } = state;
    return { disabled: disabled ?? {}, quarantined: quarantined ?? {}, held: held ?? {}, death };
  } catch (cause) {
    throw errors.memory_damaged({ file }, { cause });
  }
}

/** Checksum of what is remembered: a changed id would let another plugin run than was decided. */
const sumOf = (state: Partial<Remembered>): number => crc32(JSON.stringify(state));

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/**
 * Names the plugin that is brought up, in one write over the one before: it must survive the death of this process, not of
 * the machine, and a new file each time would have the disk waited for.
 */
function mark(file: string, id: string | undefined): void {
  if (id === undefined) {
    rmSync(file, { force: true });
    return;
  }
  const descriptor = openSync(file, constants.O_CREAT | constants.O_WRONLY, 0o600);
  writeSync(descriptor, id.padEnd(longestId), 0);
  closeSync(descriptor);
}

function assign<T>(target: Record<string, T>, id: string, value: T | undefined): void {
  if (value === undefined) {
    delete target[id];
  } else {
    target[id] = value;
  }
}
