import { refused } from './entry-list.ts';

/** Place of an archive within the body of a request, with the other fields of the form that it came in. */
export interface FormFile {
  readonly bytes: Buffer;
  readonly fields: Readonly<Record<string, string>>;
}

/** Returns the archive in the body of a request: the body itself, or the only file of a form. */
export function formFile(body: Buffer, contentType: string): FormFile {
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    return { bytes: filled(body), fields: {} };
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
  return { bytes: filled(files[0]!.data), fields: Object.fromEntries(fields) };
}

function filled(bytes: Buffer): Buffer {
  if (bytes.length === 0) {
    throw refused('the request has no body; send a zip or tar.gz archive');
  }
  return bytes;
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
