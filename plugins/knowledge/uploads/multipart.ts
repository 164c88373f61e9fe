import { errors } from './errors.ts';

/** The file of a form, and its other fields. */
export interface Form {
  readonly file: { readonly name: string; readonly bytes: Uint8Array };
  readonly fields: Readonly<Record<string, string>>;
}

const maxParts = 16;
const maxHeaderBytes = 4 * 1024;
const maxFieldBytes = 4 * 1024;
const crlf = '\r\n';

/** Parses complete multipart/form-data; strict, because its sender is a program. */
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
        throw errors.file_field();
      }
      file = { name: filename, bytes: content };
    } else if (!known.includes(name)) {
      throw errors.unknown_field({
        name: JSON.stringify(name.slice(0, 60)),
        known: known.join(', '),
      });
    } else if (Object.hasOwn(fields, name) || content.length > maxFieldBytes) {
      throw errors.field_twice({ name, maxFieldBytes: maxFieldBytes / 1024 });
    } else {
      fields[name] = textOf(content, name);
    }
  }
  if (file === undefined) {
    throw errors.no_file_field();
  }
  return { file, fields };
}

function boundaryOf(contentType: string | undefined): string {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s";,]{1,70}))/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) {
    throw errors.no_boundary();
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
  // Text before the first part is meant for people whose mail program does not support parts.
  if (at > 1_024 || at < 0 || (at > 0 && bytes.toString('latin1', at - 2, at) !== crlf)) {
    throw errors.form_start();
  }
  at += mark.length;
  for (let count = 0; ; count++) {
    const after = bytes.toString('latin1', at, at + 2);
    if (after === '--') {
      return;
    }
    const headEnd = after === crlf ? bytes.indexOf(crlf + crlf, at) : -1;
    if (headEnd < 0 || headEnd - at > maxHeaderBytes || count >= maxParts) {
      throw errors.form_parts({ maxParts });
    }
    const start = headEnd + 4;
    const end = bytes.indexOf(between, headEnd + 2);
    if (end < 0) {
      throw errors.form_cut_off();
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
    throw errors.unnamed_part();
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
    throw errors.file_name_encoding();
  }
}

function textOf(content: Buffer, field: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw errors.field_encoding({ field });
  }
}
