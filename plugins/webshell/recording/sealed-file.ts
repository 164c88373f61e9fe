import { createCipheriv, createDecipheriv } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

import type { SvcError } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';

/**
 * Magic of a sealed file. It consists of encrypted pieces, each valid on its own, so that one
 * truncated by a crash is intact up to its last piece: `length, final flag, tally | ciphertext |
 * tag`. A piece is bound to the file and its position there; the key is this file's alone.
 */
const magic = Buffer.from('svcrec1\n');
const headerBytes = 23;
const tagBytes = 16;
const longestPiece = 4 * 1024 * 1024;

const nonceOf = (index: number): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 8);
  return nonce;
};

const bond = (name: string, index: number, header: Buffer): Buffer =>
  Buffer.concat([Buffer.from(JSON.stringify(['svc recording', name, index])), header.subarray(4)]);

/** Totals of a session when a piece was written; after a crash those of the last one remain. */
export interface Tally {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly ms: number;
}

const tallyFields = ['bytesIn', 'bytesOut', 'ms'] as const;
const tallyFieldBytes = 6;
const mostTallied = 2 ** (8 * tallyFieldBytes) - 1;

export interface SealedPlace {
  readonly path: string;
  /** The file's own, 32 bytes. */
  readonly key: Uint8Array;
  /** Which one it is: a copy under another name does not open. */
  readonly name: string;
}

/** A file that is being written. */
export class SealedFile {
  readonly #handle: FileHandle;
  readonly #place: SealedPlace;
  #index = 0;

  private constructor(handle: FileHandle, place: SealedPlace) {
    this.#handle = handle;
    this.#place = place;
  }

  static async create(place: SealedPlace): Promise<SealedFile> {
    const handle = await open(place.path, 'w', 0o600);
    try {
      await writeAll(handle, magic);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return new SealedFile(handle, place);
  }

  write(piece: Uint8Array, tally: Tally): Promise<void> {
    return this.#append(piece, false, tally);
  }

  /** Writes the final piece, which says that nothing is missing, and syncs it to disk. */
  async finish(tally: Tally): Promise<void> {
    await this.#append(new Uint8Array(0), true, tally);
    await this.#handle.datasync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #append(piece: Uint8Array, final: boolean, tally: Tally): Promise<void> {
    const { key, name } = this.#place;
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32BE(piece.length, 0);
    header[4] = final ? 1 : 0;
    tallyFields.forEach((field, at) =>
      header.writeUIntBE(
        Math.min(tally[field], mostTallied),
        5 + at * tallyFieldBytes,
        tallyFieldBytes,
      ),
    );
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(this.#index)).setAAD(
      bond(name, this.#index, header),
    );
    this.#index += 1;
    await writeAll(
      this.#handle,
      Buffer.concat([header, cipher.update(piece), cipher.final(), cipher.getAuthTag()]),
    );
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += (await handle.write(bytes, at)).bytesWritten;
  }
}

export interface SealedReading {
  /** True to stop where a crash truncated the file; otherwise that is an error. */
  readonly torn: boolean;
  /** Called before each piece. */
  readonly tally?: (tally: Tally) => void;
}

/** The pieces in order. */
export async function* readSealedFile(
  { path, key, name }: SealedPlace,
  { torn, tally }: SealedReading,
): AsyncGenerator<Buffer> {
  const handle = await open(path, 'r');
  try {
    let at = magic.length;
    if (!(await readAt(handle, 0, at)).equals(magic)) {
      throw damaged(name);
    }
    for (let index = 0; ; index += 1) {
      const header = await readAt(handle, at, headerBytes);
      const length = header.length === headerBytes ? header.readUInt32BE(0) : 0;
      const body =
        header.length === headerBytes && length <= longestPiece
          ? await readAt(handle, at + headerBytes, length + tagBytes)
          : Buffer.alloc(0);
      if (body.length !== length + tagBytes) {
        if (torn) {
          return;
        }
        throw damaged(name);
      }
      const piece = opened(body, { key, bond: bond(name, index, header), name, index });
      tally?.(tallyOf(header));
      if (header[4] === 1) {
        return;
      }
      yield piece;
      at += headerBytes + body.length;
    }
  } finally {
    await handle.close();
  }
}

function tallyOf(header: Buffer): Tally {
  const [bytesIn = 0, bytesOut = 0, ms = 0] = tallyFields.map((_field, at) =>
    header.readUIntBE(5 + at * tallyFieldBytes, tallyFieldBytes),
  );
  return { bytesIn, bytesOut, ms };
}

function opened(
  body: Buffer,
  { key, bond: aad, name, index }: { key: Uint8Array; bond: Buffer; name: string; index: number },
): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index), {
      authTagLength: tagBytes,
    })
      .setAAD(aad)
      .setAuthTag(body.subarray(body.length - tagBytes));
    return Buffer.concat([
      decipher.update(body.subarray(0, body.length - tagBytes)),
      decipher.final(),
    ]);
  } catch (cause) {
    throw damaged(name, cause);
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

const damaged = (name: string, cause?: unknown): SvcError =>
  errors.recording_damaged({ name }, { cause });
