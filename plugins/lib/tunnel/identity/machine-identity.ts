import { createHash } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

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
  /** Files that were replaced at this start because their bytes had changed; each is kept next to the new one. */
  readonly damaged: readonly string[];
  /** The key has been replaced once because it was damaged: a manager that has bound the old one asks a person. */
  readonly keyReplaced: boolean;
}

/** Content of `machine.json`. An earlier version wrote neither the key nor the checksum. */
interface Kept {
  readonly uuid: string;
  readonly fingerprint?: string | undefined;
  /** Public half of `machine.key`: a key with one other bit is a key as well. */
  readonly public_key?: string | undefined;
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `machine.json` and `machine.key` of the data folder, made at the first start and for its owner's eyes only. */
export function openMachineIdentity(
  dataDir: string,
  newUuid: () => string,
  root = '/',
): MachineIdentity {
  const file = join(dataDir, 'machine.json');
  const keyFile = join(dataDir, 'machine.key');
  const machineId = trimmed(join(root, 'etc/machine-id'));
  const fingerprint =
    machineId && createHash('sha256').update(`svc-edge ${machineId}`).digest('hex').slice(0, 32);
  const damaged: string[] = [];
  const kept = recall(file);
  if (kept === 'damaged') {
    damaged.push(setAside(file));
  }
  const known = kept === 'damaged' ? undefined : kept;
  const copied =
    known?.fingerprint !== undefined &&
    fingerprint !== undefined &&
    known.fingerprint !== fingerprint;
  const keptKey = copied ? undefined : keyIn(keyFile, known?.public_key);
  if (keptKey === 'damaged') {
    damaged.push(setAside(keyFile));
  }
  // The key first: a kill between the two leaves a machine that is recognized as new, not one that
  // is taken for the other.
  const key = keptKey === undefined || keptKey === 'damaged' ? makeKey(keyFile) : keptKey;
  const uuid = known && !copied ? known.uuid : newUuid();
  if (uuid !== known?.uuid || known.public_key !== key.publicKey) {
    keep(file, {
      uuid,
      fingerprint: uuid === known?.uuid ? known.fingerprint : fingerprint,
      public_key: key.publicKey,
    });
  }
  return {
    uuid,
    key,
    fingerprint,
    copiedFrom: copied ? known.uuid : undefined,
    damaged,
    keyReplaced: existsSync(besides(keyFile)),
  };
}

const besides = (file: string): string => `${file}.damaged`;

function setAside(file: string): string {
  renameSync(file, besides(file));
  return file;
}

function keyIn(file: string, publicKey: string | undefined): MachineKey | 'damaged' | undefined {
  const pem = readText(file);
  if (pem === undefined) {
    return undefined;
  }
  try {
    const key = machineKeyOf(pem);
    return publicKey === undefined || key.publicKey === publicKey ? key : 'damaged';
  } catch {
    return 'damaged';
  }
}

function makeKey(file: string): MachineKey {
  const pem = makeMachineKey();
  writeText(file, pem);
  return machineKeyOf(pem);
}

function keep(file: string, kept: Kept): void {
  writeText(file, JSON.stringify({ ...kept, sum: sumOf(kept) }, undefined, 2));
}

const sumOf = ({ uuid, fingerprint, public_key: key }: Kept): number =>
  crc32(JSON.stringify([uuid, fingerprint, key]));

function recall(file: string): Kept | 'damaged' | undefined {
  const text = readText(file);
  if (text === undefined) {
    return undefined;
  }
  try {
    const { sum, ...kept } = JSON.parse(text) as Kept & { readonly sum?: number };
    const isOfEarlierVersion = sum === undefined && kept.public_key === undefined;
    return uuidForm.test(kept.uuid) && (isOfEarlierVersion || sum === sumOf(kept))
      ? kept
      : 'damaged';
  } catch {
    return 'damaged';
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
