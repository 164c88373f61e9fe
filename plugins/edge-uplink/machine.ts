import { join } from 'node:path';

import type { Ids, Logger } from 'svc/sdk';
import { type MachineKey, openMachineIdentity, readText } from 'svc/tunnel';

export interface Machine {
  readonly uuid: string;
  readonly key: MachineKey;
  readonly bootId: string;
  readonly fingerprint: string | undefined;
}

/** Returns the identity of this host, at this start. */
export function openMachine(dataDir: string, ids: Ids, log: Logger, root = '/'): Machine {
  const { uuid, key, fingerprint, copiedFrom } = openMachineIdentity(
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
  return { uuid, key, bootId: bootIdOf(root) ?? ids.uuid(), fingerprint };
}

function bootIdOf(root: string): string | undefined {
  try {
    return readText(join(root, 'proc/sys/kernel/random/boot_id'))?.trim() || undefined;
  } catch {
    // Not ours to read: each start counts as one of the machine.
    return undefined;
  }
}
