import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { type MachineKey, machineKeyOf, makeMachineKey } from './machine-key.ts';
import { readText, writeText } from './text-file.ts';

/** Identity of a machine towards its manager, as stored in its data folder. */
export interface MachineIdentity {
  /**
   * UUID, kept across restarts and upgrades; a machine made from a copy of this one's data gets a
   * new one.
   */
  readonly uuid: string;
  /** Key that proves that it is the same machine: knowing the UUID is not enough. */
  readonly key: MachineKey;
  /** Fingerprint of the hardware: suggests which device it was before. */
  readonly fingerprint: string | undefined;
  /** The folder was copied from another machine, which has this UUID. */
  readonly copiedFrom: string | undefined;
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `machine.json` and `machine.key` of the data folder, made at the first start and for its owner's eyes only. */
export function openMachineIdentity(
  dataDir: string,
  newUuid: () => string,
  root = '/',
): MachineIdentity {
  const file = join(dataDir, 'machine.json');
  const machineId = trimmed(join(root, 'etc/machine-id'));
  const fingerprint =
    machineId && createHash('sha256').update(`svc-edge ${machineId}`).digest('hex').slice(0, 32);
  const kept = recall(file);
  const copied =
    kept?.fingerprint !== undefined &&
    fingerprint !== undefined &&
    kept.fingerprint !== fingerprint;
  if (kept && !copied) {
    return { uuid: kept.uuid, key: keyOf(dataDir), fingerprint, copiedFrom: undefined };
  }
  const uuid = newUuid();
  // The key first: a kill between the two leaves a machine that is recognized as new, not one that
  // is taken for the other.
  const key = keyOf(dataDir, copied);
  writeText(file, JSON.stringify({ uuid, fingerprint }, undefined, 2));
  return { uuid, key, fingerprint, copiedFrom: copied ? kept.uuid : undefined };
}

function keyOf(dataDir: string, anew = false): MachineKey {
  const file = join(dataDir, 'machine.key');
  const kept = anew ? undefined : readText(file);
  try {
    if (kept !== undefined) {
      return machineKeyOf(kept);
    }
  } catch {
    // Damaged: with another key the manager asks a person whether this is still the same machine.
  }
  const pem = makeMachineKey();
  writeText(file, pem);
  return machineKeyOf(pem);
}

function recall(file: string): { uuid: string; fingerprint: string | undefined } | undefined {
  try {
    const { uuid, fingerprint } = JSON.parse(readText(file) ?? '{}') as {
      uuid?: unknown;
      fingerprint?: unknown;
    };
    return typeof uuid === 'string' && uuidForm.test(uuid)
      ? { uuid, fingerprint: typeof fingerprint === 'string' ? fingerprint : undefined }
      : undefined;
  } catch {
    // Damaged: a new identity, which the manager shows as a machine that came back under another name.
    return undefined;
  }
}

function trimmed(file: string): string | undefined {
  try {
    return readText(file)?.trim() || undefined;
  } catch {
    // Not ours to read: there is no fingerprint then.
    return undefined;
  }
}
