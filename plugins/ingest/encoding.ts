import { errors } from './errors.ts';

/** Encodings that stores decompress, by their HTTP name. */
const known: Readonly<Record<string, string>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'gzip',
  snappy: 'snappy',
};

/** The encoding of a body as a store names it; undefined for none. */
export function encodingOf(
  header: string | undefined,
  accepted: readonly string[],
): string | undefined {
  const name = (header ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') {
    return undefined;
  }
  const encoding = Object.hasOwn(known, name) ? known[name] : undefined;
  if (encoding === undefined || !accepted.includes(encoding)) {
    throw errors.encoding({ name: name.slice(0, 40), accepted: accepted.join(', ') });
  }
  return encoding;
}

/** The media type without its parameters, and one of them. */
export function mediaType(header: string | undefined): {
  readonly type: string;
  parameter(name: string): string | undefined;
} {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim());
  return {
    type: type.toLowerCase(),
    parameter: (name) =>
      parameters
        .find((part) => part.toLowerCase().startsWith(`${name}=`))
        ?.slice(name.length + 1)
        .replaceAll('"', ''),
  };
}
