import { gunzipSync } from 'node:zlib';

import { EntryList, limits, type PackFiles, refused, shown } from './entry-list.ts';

const block = 512;
const longestHeader = 64 * 1024;

const otherKinds: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  S: 'a sparse file',
};

/** The files of a tar archive, packed by gzip or not. */
export function untar(bytes: Buffer): PackFiles {
  const list = new EntryList(bytes.length);
  const tar = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipped(bytes) : bytes;
  let named: { path?: string; size?: number } = {};
  for (let at = 0; at + block <= tar.length;) {
    const header = tar.subarray(at, at + block);
    if (header.every((byte) => byte === 0)) {
      return list.end();
    }
    const kind = String.fromCharCode(header[156]!).replace('\0', '0');
    const size = named.size ?? sizeOf(header);
    const name = named.path ?? nameOf(header);
    checkSum(header);
    const next = at + block + Math.ceil(size / block) * block;
    if (!Number.isSafeInteger(size) || at + block + size > tar.length) {
      throw refused(`${shown(name)} is longer than the archive`);
    }
    const data = tar.subarray(at + block, at + block + size);
    at = next;
    if (kind === 'x' || kind === 'L') {
      list.reserve(name, 0);
      named =
        kind === 'x'
          ? { ...named, ...extended(data) }
          : { ...named, path: textOf(requireShort(data)) };
      continue;
    }
    named = {};
    take(list, kind, name, data);
  }
  throw refused('the tar archive has no end; it may be truncated');
}

function take(list: EntryList, kind: string, name: string, data: Buffer): void {
  list.reserve(name, data.length);
  if (kind === '0' || kind === '7') {
    if (name.endsWith('/')) {
      list.addFolder(name);
    } else {
      list.addFile(name, data);
    }
  } else if (kind === '5') {
    list.addFolder(name);
  } else if (kind !== 'g') {
    throw refused(
      `${shown(name)} is ${otherKinds[kind] ?? `an entry of the kind ${shown(kind)}`}; a pack is made of plain files only`,
    );
  }
}

/** Unpacks at most what all files and their headers may have together. */
function gunzipped(bytes: Buffer): Buffer {
  const most =
    Math.min(limits.unpackedBytes, Math.max(limits.ratioFrom, bytes.length * limits.ratio)) +
    limits.entries * 2 * block;
  try {
    return gunzipSync(bytes, { maxOutputLength: most });
  } catch (error) {
    const isBomb = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    throw refused(
      isBomb
        ? `the archive unpacks to more than ${Math.floor(most / 1024 / 1024)} MiB, as a bomb does`
        : 'the archive cannot be unpacked; it may be truncated',
    );
  }
}

function checkSum(header: Buffer): void {
  const sum = header.reduce(
    (total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte),
    0,
  );
  if (octal(header, 148, 8) !== sum) {
    throw refused(
      'the archive is damaged: the check sum of an entry is wrong, or it is neither zip nor tar.gz',
    );
  }
}

function nameOf(header: Buffer): string {
  const name = textOf(header.subarray(0, 100));
  const prefix =
    header.subarray(257, 262).toString('latin1') === 'ustar'
      ? textOf(header.subarray(345, 500))
      : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Sizes beyond 8 GiB are written otherwise, and refused here. */
function sizeOf(header: Buffer): number {
  if ((header[124]! & 0x80) !== 0) {
    throw refused(`${shown(nameOf(header))} claims to have more than 8 GiB`);
  }
  return octal(header, 124, 12);
}

function octal(header: Buffer, at: number, length: number): number {
  const text = textOf(header.subarray(at, at + length)).trim();
  if (!/^[0-7]*$/.test(text)) {
    throw refused('the archive is damaged, or is neither zip nor tar.gz');
  }
  return text === '' ? 0 : Number.parseInt(text, 8);
}

/** `19 path=some/name\n`, again and again. */
function extended(data: Buffer): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
  let rest = requireShort(data);
  while (rest.length > 0) {
    const length = Number.parseInt(rest.subarray(0, 10).toString('latin1'), 10);
    if (!(length > 4 && length <= rest.length)) {
      throw refused('the archive is damaged: a long header in it cannot be read');
    }
    const line = rest.subarray(0, length - 1).toString('utf8');
    const [, key, value = ''] = /^\d+ ([^=]+)=([^]*)$/.exec(line) ?? [];
    if (key === 'path') {
      found.path = value;
    } else if (key === 'size') {
      found.size = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
    } else if (key === 'linkpath' || key?.startsWith('GNU.sparse') === true) {
      throw refused(
        `an entry of the archive has ${shown(key)}; a pack is made of plain files only`,
      );
    }
    rest = rest.subarray(length);
  }
  return found;
}

function requireShort(data: Buffer): Buffer {
  if (data.length > longestHeader) {
    throw refused(`a header in the archive is longer than ${longestHeader / 1024} KiB`);
  }
  return data;
}

const textOf = (bytes: Buffer): string => {
  const nul = bytes.indexOf(0);
  return bytes.subarray(0, nul === -1 ? bytes.length : nul).toString('latin1');
};
