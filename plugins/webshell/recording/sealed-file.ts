import { createCipheriv, createDecipheriv } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

import { SvcError } from 'svc/sdk';

/**
 * A file of encrypted pieces, each valid by itself, so that one which a crash has cut off is whole up to its last piece:
 * `length, final flag | ciphertext | tag`. A piece is bound to the file and its place there; the key is this file's alone.
 */
const magic = Buffer.from('svcrec1\n');
const headerBytes = 5;
const tagBytes = 16;
const longestPiece = 4 * 1024 * 1024;

const nonceOf = (index: number): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 8);
  return nonce;
};

const bond = (name: string, index: number, final: boolean): Buffer => Buffer.from(JSON.stringify(['svc recording', name, index, final]));

export interface SealedFile {
  write(piece: Uint8Array): Promise<void>;
  /** Says that nothing is missing, and that it is on disk. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export interface SealedPlace {
  readonly path: string;
  /** The file's own, 32 bytes. */
  readonly key: Uint8Array;
  /** Which one it is: a copy under another name does not open. */
  readonly name: string;
}

export async function createSealedFile({ path, key, name }: SealedPlace): Promise<SealedFile> {
  const handle = await open(path, 'w', 0o600);
  let index = 0;
  const append = async (piece: Uint8Array, final: boolean): Promise<void> => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index)).setAAD(bond(name, index, final));
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32BE(piece.length, 0);
    header[4] = final ? 1 : 0;
    index += 1;
    await writeAll(handle, Buffer.concat([header, cipher.update(piece), cipher.final(), cipher.getAuthTag()]));
  };
  try {
    await writeAll(handle, magic);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    write: (piece) => append(piece, false),
    async finish() {
      await append(new Uint8Array(0), true);
      await handle.datasync();
    },
    close: () => handle.close(),
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += (await handle.write(bytes, at)).bytesWritten;
  }
}

/** The pieces in order. With `torn` it stops where a crash has cut the file off, and otherwise that is an error. */
export async function* readSealedFile({ path, key, name }: SealedPlace, { torn }: { readonly torn: boolean }): AsyncGenerator<Buffer> {
  const handle = await open(path, 'r');
  try {
    let at = magic.length;
    if (!(await readAt(handle, 0, at)).equals(magic)) {
      throw damaged(name);
    }
    for (let index = 0; ; index += 1) {
      const header = await readAt(handle, at, headerBytes);
      const length = header.length === headerBytes ? header.readUInt32BE(0) : 0;
      const body = header.length === headerBytes && length <= longestPiece ? await readAt(handle, at + headerBytes, length + tagBytes) : Buffer.alloc(0);
      if (body.length !== length + tagBytes) {
        if (torn) {
          return;
        }
        throw damaged(name);
      }
      const final = header[4] === 1;
      const piece = opened(body, { key, name, index, final });
      if (final) {
        return;
      }
      yield piece;
      at += headerBytes + body.length;
    }
  } finally {
    await handle.close();
  }
}

function opened(body: Buffer, { key, name, index, final }: { key: Uint8Array; name: string; index: number; final: boolean }): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index), { authTagLength: tagBytes })
      .setAAD(bond(name, index, final))
      .setAuthTag(body.subarray(body.length - tagBytes));
    return Buffer.concat([decipher.update(body.subarray(0, body.length - tagBytes)), decipher.final()]);
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
  new SvcError('internal', `recording ${name} is damaged: its file was altered, cut off, or is another one's`, { cause });
