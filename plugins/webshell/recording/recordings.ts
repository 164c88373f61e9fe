import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { Readable } from 'node:stream';

import { type Ids, messageOf, type Secrets, SvcError, type Tables } from 'svc/sdk';

import { sessionStore } from '../session-store.ts';
import type { SessionRow, WebshellTables } from '../tables.ts';
import { createSealedFile, readSealedFile, type SealedFile, type SealedPlace, type Tally } from './sealed-file.ts';

/** The files of recordings, each under a key of its own that the master key seals. */
export interface Recordings {
  /** Joins the write that makes the session. */
  newKey(tx: Tables<WebshellTables>['read'], id: number): Promise<Uint8Array>;
  create(id: number, key: Uint8Array): Promise<SealedFile>;
  /** The bytes of a `.cast.gz`, or of the `.cast` in it. */
  read(row: SessionRow, form: 'gz' | 'cast'): AsyncIterable<Uint8Array>;
  /** What a crash has left of a file; undefined when that is nothing. */
  salvage(row: SessionRow): Promise<{ readonly bytes: number; readonly sha256: string; readonly tally: Tally } | undefined>;
  remove(id: number): Promise<void>;
}

export interface RecordingsOptions {
  readonly folder: string;
  readonly secrets: Secrets;
  readonly ids: Ids;
}

export function openRecordings({ folder, secrets, ids }: RecordingsOptions): Recordings {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sealedAt = (id: number) => ({ table: 'webshell_sessions', row: String(id), column: 'recording_key' });
  const pathOf = (id: number): string => join(folder, `${id}.cast.gz.sealed`);
  const placeOf = (id: number, key: Uint8Array): SealedPlace => ({ path: pathOf(id), key, name: String(id) });

  function placeOfRow({ id, recording_key: sealed }: SessionRow): SealedPlace {
    if (sealed === null) {
      throw new SvcError('not_found', `there is no recording ${id}`);
    }
    return placeOf(id, Buffer.from(secrets.open(sealedAt(id), sealed), 'base64url'));
  }

  return {
    async newKey(tx, id) {
      const key = ids.token(32);
      await sessionStore(tx).update(id, { recording_key: secrets.seal(sealedAt(id), key) });
      return Buffer.from(key, 'base64url');
    },

    create: (id, key) => createSealedFile(placeOf(id, key)),

    read(row, form) {
      const pieces = readSealedFile(placeOfRow(row), { torn: row.recording_state !== 'complete' });
      return form === 'gz' ? pieces : unpacked(pieces);
    },

    async salvage(row) {
      const hash = createHash('sha256');
      let bytes = 0;
      let reached: Tally = { bytesIn: 0, bytesOut: 0, ms: 0 };
      try {
        for await (const piece of readSealedFile(placeOfRow(row), { torn: true, tally: (told) => (reached = told) })) {
          hash.update(piece);
          bytes += piece.length;
        }
      } catch (error) {
        if (bytes === 0) {
          throw new SvcError('internal', `nothing of recording ${row.id} can be read: ${messageOf(error)}`, { cause: error });
        }
      }
      return bytes === 0 ? undefined : { bytes, sha256: hash.digest('hex'), tally: reached };
    },

    remove: (id) => rm(pathOf(id), { force: true }),
  };
}

async function* unpacked(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(pieces, { objectMode: false });
  const gunzip = createGunzip();
  source.once('error', (error) => gunzip.destroy(error));
  try {
    for await (const chunk of source.pipe(gunzip)) {
      yield chunk as Buffer;
    }
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}
