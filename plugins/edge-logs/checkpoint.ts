import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';

import type { Loss } from './files/lost-lines.ts';
import type { Place } from './files/place.ts';
import type { Instant } from './lines/line-times.ts';

/** Read positions of all files, with the push that belongs to them. */
export interface Checkpoint {
  /**
   * Time when this host's logs were first examined: files made later are read from their beginning.
   */
  readonly since: number;
  readonly times: { readonly files: Instant; readonly journal: Instant };
  readonly places: readonly Place[];
  readonly cursor: string | undefined;
  /** Lines that are gone, of which the manager is still told; absent in those of earlier versions. */
  readonly lost?: readonly Loss[];
  /** Lines of the push that is kept here until it is known to be shipped. */
  readonly lines: number;
}

export interface Kept {
  readonly checkpoint: Checkpoint;
  readonly body: Uint8Array | undefined;
}

const fileName = 'checkpoint';
const version = 'svc-edge-logs 1';
const maxBytes = 64 * 1024 * 1024;

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Saves a checkpoint as `version sha256
 * `, the checkpoint as one line of JSON, then the body. Positions and the push that brings them
 * about are one file and one rename: after a kill the same bytes are shipped once more, and nothing
 * is read twice.
 */
export async function saveCheckpoint(
  folder: string,
  checkpoint: Checkpoint,
  body?: Uint8Array,
): Promise<void> {
  const rest = Buffer.concat([
    Buffer.from(`${JSON.stringify(checkpoint)}\n`),
    body ?? new Uint8Array(0),
  ]);
  const path = join(folder, fileName);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(Buffer.concat([Buffer.from(`${version} ${digest(rest)}\n`), rest]));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Undefined before the first one was saved; a sentence when there is one that cannot be believed. */
export async function loadCheckpoint(folder: string): Promise<Kept | string | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(folder, fileName));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? undefined
      : `the checkpoint cannot be read: ${messageOf(error)}`;
  }
  const [first, second] = [bytes.indexOf(10), bytes.indexOf(10, bytes.indexOf(10) + 1)];
  const rest = bytes.subarray(first + 1);
  if (
    first < 0 ||
    second < 0 ||
    bytes.length > maxBytes ||
    bytes.toString('latin1', 0, first) !== `${version} ${digest(rest)}`
  ) {
    return 'the checkpoint is damaged';
  }
  const body = bytes.subarray(second + 1);
  return {
    checkpoint: JSON.parse(bytes.toString('utf8', first + 1, second)) as Checkpoint,
    body: body.length === 0 ? undefined : body,
  };
}
