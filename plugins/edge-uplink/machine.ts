import { basename, join } from 'node:path';

import type { Ids, Logger } from 'svc/sdk';
import { type MachineKey, openMachineIdentity, readText } from 'svc/tunnel';

export interface Machine {
  readonly uuid: string;
  readonly key: MachineKey;
  readonly bootId: string;
  readonly fingerprint: string | undefined;
  /** The key took the place of a damaged one; a manager that has bound the old one is told. */
  readonly keyReplaced: boolean;
}

/** Consequences of a new identity and the remedy, by the file that was replaced. */
const remedies: Readonly<Record<string, string>> = {
  'machine.json': 'The manager recognizes this machine by its key',
  'machine.key':
    'The manager refuses the new key until an operator runs "svc edge resolve" for this edge',
};

/** Returns the identity of this host, at this start. */
export function openMachine(dataDir: string, ids: Ids, log: Logger, root = '/'): Machine {
  const { uuid, key, fingerprint, copiedFrom, damaged, keyReplaced } = openMachineIdentity(
    dataDir,
    () => ids.uuid(),
    root,
  );
  if (copiedFrom !== undefined) {
    log.warn(
      { event: 'uplink.folder_copied', uuid: copiedFrom },
      'data folder was copied from another machine; created a new machine identity; enrol this machine again',
    );
  }
  for (const file of damaged) {
    log.error(
      { event: 'uplink.identity_damaged', file },
      `${basename(file)} is damaged and was replaced; the damaged file is kept as ${basename(file)}.damaged. ${remedies[basename(file)]}; check the disk`,
    );
  }
  return { uuid, key, bootId: bootIdOf(root) ?? ids.uuid(), fingerprint, keyReplaced };
}

function bootIdOf(root: string): string | undefined {
  try {
    return readText(join(root, 'proc/sys/kernel/random/boot_id'))?.trim() || undefined;
  } catch {
    // Not ours to read: each start counts as one of the machine.
    return undefined;
  }
}
