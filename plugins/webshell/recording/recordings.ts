import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { Readable } from 'node:stream';

import { type Ids, messageOf, type Secrets } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import { sessionStore } from '../sessions/session-store.ts';
import type { SessionRow, WebshellDb } from '../sessions/tables.ts';
import { readSealedFile, SealedFile, type SealedPlace, type Tally } from './sealed-file.ts';

export interface RecordingsOptions {
  readonly folder: string;
  readonly secrets: Secrets;
  readonly ids: Ids;
}

/** The files of recordings, each under a key of its own that the master key seals. */
export class Recordings {
  readonly #options: RecordingsOptions;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  }

  /** Joins the write that makes the session. */
  async newKey(tx: WebshellDb, id: number): Promise<Uint8Array> {
    const { ids, secrets } = this.#options;
    const key = ids.token(32);
    await sessionStore(tx).update(id, { recording_key: secrets.seal(sealedAt(id), key) });
    return Buffer.from(key, 'base64url');
  }

  create(id: number, key: Uint8Array): Promise<SealedFile> {
    return SealedFile.create(this.#place(id, key));
  }

  /** The bytes of a `.cast.gz`, or of the `.cast` in it. */
  read(row: SessionRow, form: 'gz' | 'cast'): AsyncIterable<Uint8Array> {
    const pieces = readSealedFile(this.#placeOf(row), { torn: row.recording_state !== 'complete' });
    return form === 'gz' ? pieces : unpacked(pieces);
  }

  /** Recovers what a crash has left of a file; undefined if that is nothing. */
  async salvage(
    row: SessionRow,
  ): Promise<
    { readonly bytes: number; readonly sha256: string; readonly tally: Tally } | undefined
  > {
    const hash = createHash('sha256');
    let bytes = 0;
    let reached: Tally = { bytesIn: 0, bytesOut: 0, ms: 0 };
    try {
      for await (const piece of readSealedFile(this.#placeOf(row), {
        torn: true,
        tally: (tally) => (reached = tally),
      })) {
        hash.update(piece);
        bytes += piece.length;
      }
    } catch (error) {
      if (bytes === 0) {
        throw errors.recording_unreadable(
          { id: row.id, cause: messageOf(error) },
          { cause: error },
        );
      }
    }
    return bytes === 0 ? undefined : { bytes, sha256: hash.digest('hex'), tally: reached };
  }

  remove(id: number): Promise<void> {
    return rm(this.#path(id), { force: true });
  }

  #path(id: number): string {
    return join(this.#options.folder, `${id}.cast.gz.sealed`);
  }

  #place(id: number, key: Uint8Array): SealedPlace {
    return { path: this.#path(id), key, name: String(id) };
  }

  #placeOf({ id, recording_key: sealed }: SessionRow): SealedPlace {
    if (sealed === null) {
      throw errors.no_recording({ id });
    }
    return this.#place(
      id,
      Buffer.from(this.#options.secrets.open(sealedAt(id), sealed), 'base64url'),
    );
  }
}

const sealedAt = (id: number) => ({
  table: 'webshell_sessions',
  row: String(id),
  column: 'recording_key',
});

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
