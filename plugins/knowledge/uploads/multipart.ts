import { SvcError } from 'svc/sdk';

/** The file of a form, and its other fields. */
export interface Form {
  readonly file: { readonly name: string; readonly bytes: Uint8Array };
  readonly fields: Readonly<Record<string, string>>;
}

const maxParts = 16;
const maxHeaderBytes = 4 * 1024;
const maxFieldBytes = 4 * 1024;
const crlf = '\r\n';

/** Reads multipart/form-data of which all bytes are there; strict, because whoever sends it is a program. */
export function formOf(
  body: Uint8Array,
  contentType: string | undefined,
  known: readonly string[],
): Form {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const fields: Record<string, string> = {};
  let file: Form['file'] | undefined;
  for (const { head, content } of partsOf(bytes, boundaryOf(contentType))) {
    const { name, filename } = dispositionOf(head);
    if (name === 'file') {
      if (filename === undefined || file !== undefined) {
        throw refusal('the form needs one field "file" with a name of a file, and has another one');
      }
      file = { name: filename, bytes: content };
    } else if (!known.includes(name)) {
      throw refusal(
        `the form has a field ${JSON.stringify(name.slice(0, 60))}, which is not known; it takes file, ${known.join(', ')}`,
      );
    } else if (Object.hasOwn(fields, name) || content.length > maxFieldBytes) {
      throw refusal(`the field ${name} is there twice, or longer than ${maxFieldBytes / 1024} KiB`);
    } else {
      fields[name] = textOf(content, name);
    }
  }
  if (file === undefined) {
    throw refusal(
      'the form has no field "file"; send the file in one, as with curl -F file=@manual.pdf',
    );
  }
  return { file, fields };
}

function boundaryOf(contentType: string | undefined): string {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s";,]{1,70}))/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) {
    throw refusal('the Content-Type names no boundary of the form');
  }
  return boundary;
}

function* partsOf(
  bytes: Buffer,
  boundary: string,
): Generator<{ readonly head: string; readonly content: Buffer }> {
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  const between = Buffer.concat([Buffer.from(crlf), mark]);
  let at = bytes.indexOf(mark);
  // What stands before the first part is for people whose mail program knows no parts.
  if (at > 1_024 || at < 0 || (at > 0 && bytes.toString('latin1', at - 2, at) !== crlf)) {
    throw refusal('the form does not begin with its boundary');
  }
  at += mark.length;
  for (let count = 0; ; count++) {
    const after = bytes.toString('latin1', at, at + 2);
    if (after === '--') {
      return;
    }
    const headEnd = after === crlf ? bytes.indexOf(crlf + crlf, at) : -1;
    if (headEnd < 0 || headEnd - at > maxHeaderBytes || count >= maxParts) {
      throw refusal(
        `a part of the form has no header or a long one, or there are more than ${maxParts} parts`,
      );
    }
    const start = headEnd + 4;
    const end = bytes.indexOf(between, headEnd + 2);
    if (end < 0) {
      throw refusal('the form ends within a part; it was cut off on the way');
    }
    yield {
      head: bytes.toString('utf8', at + 2, headEnd),
      content: bytes.subarray(start, Math.max(start, end)),
    };
    at = end + between.length;
  }
}

function dispositionOf(head: string): {
  readonly name: string;
  readonly filename: string | undefined;
} {
  const line = head.split(crlf).find((header) => /^content-disposition:/i.test(header)) ?? '';
  const name = /;\s*name="([^"]*)"/i.exec(line)?.[1];
  const encoded = /;\s*filename\*=utf-8''([^;\s]+)/i.exec(line)?.[1];
  const plain = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(line)?.[1];
  if (name === undefined || !/^content-disposition:\s*form-data\b/i.test(line)) {
    throw refusal('a part of the form does not say which field it is');
  }
  return {
    name,
    filename:
      encoded === undefined
        ? plain?.replaceAll('%22', '"').replaceAll('\\"', '"')
        : decoded(encoded),
  };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw refusal('the name of the file is not encoded as its header says');
  }
}

function textOf(content: Buffer, field: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw refusal(`the field ${field} is not UTF-8`);
  }
}

const refusal = (message: string): SvcError => new SvcError('invalid_argument', message);
