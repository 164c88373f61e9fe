import { createHash } from 'node:crypto';

export interface MultipartFile {
  readonly field: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Returns fields and one file as a form. Its boundary is a digest of the file, which cannot contain that. */
export function multipart(
  fields: Readonly<Record<string, string>>,
  { field, name, type, bytes }: MultipartFile,
): { readonly type: string; readonly bytes: Uint8Array } {
  const boundary = `svc-${createHash('sha256').update(bytes).digest('hex').slice(0, 40)}`;
  const head = (disposition: string, rest = ''): string =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}${rest}\r\n\r\n`;
  const parts = Object.entries(fields).map(
    ([key, value]) => `${head(`name="${key}"`)}${value.replaceAll(/[\r\n]+/g, ' ')}\r\n`,
  );
  const file = head(
    `name="${field}"; filename="${name.replaceAll(/["\\\p{Cc}]/gu, '_')}"`,
    `\r\ncontent-type: ${type}`,
  );
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.concat([
      Buffer.from([...parts, file].join('')),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}
