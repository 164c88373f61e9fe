import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';

import { limits, refused, shown } from './entry-list.ts';

/** Archive in the body of a request, with the other fields of the form that it came in. */
export interface Arrived {
  readonly bytes: Uint8Array;
  readonly fields: Readonly<Record<string, string>>;
}

/** The archive in the body of a request: the body itself, or the only file of a form. */
export function packIn(body: Buffer, contentType: string): Arrived {
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    return { bytes: requireBytes(body), fields: {} };
  }
  const [, quoted, bare] =
    /;\s{0,10}boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) {
    throw refused('the form has no boundary in its Content-Type');
  }
  const parts = partsOf(body, Buffer.from(`--${boundary}`));
  const isFile = ({ head }: Part): boolean =>
    /^content-disposition:[^\r\n]*;\s{0,10}filename\*?=/im.test(head);
  const files = parts.filter(isFile);
  if (files.length !== 1) {
    throw refused(`the form has ${files.length} files; send one`);
  }
  const fields = parts.flatMap((part) => {
    const name = /^content-disposition:[^\r\n]*;\s{0,10}name="?([\w-]{1,40})/im.exec(
      part.head,
    )?.[1];
    return isFile(part) || name === undefined ? [] : [[name, part.data.toString('utf8')] as const];
  });
  return { bytes: requireBytes(files[0]!.data), fields: Object.fromEntries(fields) };
}

function requireBytes(bytes: Buffer): Uint8Array {
  if (bytes.length === 0) {
    throw refused('the request has no body; send a zip or tar.gz archive');
  }
  // Memory of its own: it moves to the thread that reads it.
  return new Uint8Array(bytes);
}

interface Part {
  readonly head: string;
  readonly data: Buffer;
}

function partsOf(body: Buffer, mark: Buffer): readonly Part[] {
  const parts: Part[] = [];
  for (let at = body.indexOf(mark); at !== -1 && parts.length < 100;) {
    const begin = at + mark.length + 2;
    const next = body.indexOf(mark, begin);
    const headEnd = body.indexOf('\r\n\r\n', begin);
    if (next === -1 || headEnd === -1 || headEnd > next) {
      break;
    }
    parts.push({
      head: body.toString('latin1', begin, headEnd),
      data: body.subarray(headEnd + 4, next - 2),
    });
    at = next;
  }
  return parts;
}

/** Reads an archive next to the local index of a registry; no other location is read. */
export function readArchive(file: string, folder: string): Uint8Array {
  const real = existsSync(file) ? realpathSync(file) : file;
  if (
    !real.startsWith(`${realpathSync(folder)}/`) ||
    !lstatSync(real, { throwIfNoEntry: false })?.isFile()
  ) {
    throw refused(`${shown(file)} is not a file below the folder of its registry`);
  }
  if (lstatSync(real).size > limits.packedBytes) {
    throw refused(`the archive is larger than ${limits.packedBytes / 1024 / 1024} MiB`);
  }
  return readFileSync(real);
}
