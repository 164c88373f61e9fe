const zeroWidth = '\u200b';

/** Breaks mentions, which a platform would deliver to people, by an invisible character. */
export const withoutMentions = (text: string): string =>
  text
    .replaceAll(/(^|[^\p{L}\p{N}])@(?=[\p{L}\p{N}_])/gu, `$1@${zeroWidth}`)
    .replaceAll(/<(?=\/?(?:at\b|@|!|#))/gi, `<${zeroWidth}`);

/**
 * Replaces images by their text: the client of every reader would fetch them, and reveal that to a
 * stranger.
 */
export const withoutImages = (text: string): string =>
  text
    .replaceAll(
      /!\[([^\]\n]{0,300})\](?:\([^)\n]{0,4000}\)|\[[^\]\n]{0,300}\])/g,
      (_all, words: string) => (words.trim() === '' ? '(image)' : `(image: ${words.trim()})`),
    )
    .replaceAll(
      /<\/?(?:img|picture|source|video|audio|iframe|object|embed)\b[^>\n]{0,4000}>?/gi,
      '(image)',
    );

/**
 * Returns the longest prefix of `text` of at most `most` bytes in UTF-8, without splitting a
 * character; truncation is marked.
 */
export function cutToBytes(text: string, most: number, mark = '…'): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= most) {
    return text;
  }
  let end = Math.max(0, most - Buffer.byteLength(mark));
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) {
    end -= 1;
  }
  return bytes.subarray(0, end).toString('utf8') + mark;
}

/** A value of a platform's JSON as an object; anything else is an empty one. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** A value of a platform's JSON as bounded text: numbers too, because ids come as either; anything else is empty. */
export const textOf = (value: unknown, most = 200): string =>
  typeof value === 'string'
    ? value.slice(0, most)
    : typeof value === 'number' && Number.isFinite(value)
      ? String(value)
      : '';

/** The fields of a form; of one that comes twice the first. */
export function formFields(body: Uint8Array): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  new URLSearchParams(Buffer.from(body).toString('utf8')).forEach((value, name) => {
    fields[name] ??= value;
  });
  return fields;
}

/** JSON as an object; an empty one for anything else. */
export function jsonObject(text: string | Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return objectOf(
      JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString('utf8')),
    );
  } catch {
    return {};
  }
}
