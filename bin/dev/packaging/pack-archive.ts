import { gunzipSync, gzipSync } from 'node:zlib';

import { errors } from './errors.ts';
import { sha256 } from './prebuilt-plugin.ts';

const block = 512;

/** Contents of an archive's manifest. */
export interface ArchivedPack {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly engines: { readonly host: string };
  readonly sha256: string;
}

/**
 * Packs a pack as one file: the same files give the same bytes, so that anybody can reproduce its
 * hash.
 */
export function packArchive(files: ReadonlyMap<string, Uint8Array>): Buffer {
  const blocks = [...files].flatMap(([name, bytes]) => [
    headerOf(name, bytes.length),
    bytes,
    Buffer.alloc((block - (bytes.length % block)) % block),
  ]);
  const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * block)]), { level: 9 });
  // Which system made it is no part of a pack.
  packed[9] = 255;
  return packed;
}

/** Reads an archive made by `packArchive`: its manifest comes first. */
export function archivedPack(bytes: Buffer): ArchivedPack {
  try {
    const tar = gunzipSync(bytes, { maxOutputLength: 256 * 1024 * 1024 });
    const size = Number.parseInt(tar.toString('latin1', 124, 136), 8);
    if (!tar.toString('latin1', 0, 100).startsWith('plugin.json\0')) {
      throw new Error('its first file is another than plugin.json');
    }
    const { id, version, title, description, engines } = JSON.parse(
      tar.toString('utf8', block, block + size),
    ) as ArchivedPack;
    return { id, version, title, description, engines, sha256: sha256(bytes) };
  } catch (error) {
    throw errors.no_pack_archive({ cause: error });
  }
}

function headerOf(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 99) {
    throw errors.path_too_long({ name });
  }
  const header = Buffer.alloc(block);
  header.write(name, 0);
  header.write(
    '0000644\0' +
      '0000000\0' +
      '0000000\0' +
      `${size.toString(8).padStart(11, '0')}\0` +
      '00000000000\0' +
      '        ' +
      '0',
    100,
    'latin1',
  );
  header.write('ustar\0' + '00', 257, 'latin1');
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
