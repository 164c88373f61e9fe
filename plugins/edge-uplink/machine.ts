import { createHash } from 'node:crypto';
import { join } from 'node:path';

import type { Ids, Logger } from 'svc/sdk';

import { writeText, readText } from './text-file.ts';

export interface Machine {
  /** Kept over restarts and upgrades; another one on a machine that was made from a copy of this one's data. */
  readonly uuid: string;
  readonly bootId: string;
  /** Of the machine itself: suggests which device it was before. */
  readonly fingerprint: string | undefined;
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `machine.json` of the data folder, made at the first start. */
export function openMachine(dataDir: string, ids: Ids, log: Logger, root = '/'): Machine {
  const file = join(dataDir, 'machine.json');
  const machineId = trimmed(join(root, 'etc/machine-id'));
  const fingerprint = machineId && createHash('sha256').update(`svc-edge ${machineId}`).digest('hex').slice(0, 32);
  const bootId = trimmed(join(root, 'proc/sys/kernel/random/boot_id')) ?? ids.uuid();
  const kept = recall(file);
  const copied = kept?.fingerprint !== undefined && fingerprint !== undefined && kept.fingerprint !== fingerprint;
  if (kept && !copied) {
    return { uuid: kept.uuid, bootId, fingerprint };
  }
  if (copied) {
    log.warn(
      { event: 'uplink.folder_copied', uuid: kept.uuid },
      'data folder was copied from another machine; made a new machine identity, enrol this machine anew',
    );
  }
  const uuid = ids.uuid();
  writeText(file, JSON.stringify({ uuid, fingerprint }, undefined, 2));
  return { uuid, bootId, fingerprint };
}

function recall(file: string): { uuid: string; fingerprint: string | undefined } | undefined {
  try {
    const { uuid, fingerprint } = JSON.parse(readText(file) ?? '{}') as { uuid?: unknown; fingerprint?: unknown };
    return typeof uuid === 'string' && uuidForm.test(uuid) ? { uuid, fingerprint: typeof fingerprint === 'string' ? fingerprint : undefined } : undefined;
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
