/** Bytes that no text in Windows-1252 has: controls, and places without a letter. */
// oxlint-disable-next-line no-control-regex -- these are what is refused
const noLetter = /[\x00-\x08\x0b\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]/;
/** A letter in UTF-8 as it looks in Latin-1: such a file is a damaged one, not an older one. */
const utf8 = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;
const letter = /[\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xc0-\xd6\xd8-\xf6\xf8-\xff]/g;
/** Signs of Windows in the place of controls; blanks are places without a sign. */
const windows = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';
/** Share of letters with accents above which it is another alphabet. */
const mostAccents = 0.3;
const leastLetters = 0.25;

/**
 * Decodes a text file: UTF-8 byte for byte, UTF-16 as some editors save it, and Latin-1 with the
 * signs of Windows; undefined if it is none of these.
 */
export function textOf(bytes: Uint8Array): string | undefined {
  const wide =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : undefined;
  try {
    return new TextDecoder(wide ?? 'utf-8', { fatal: true, ignoreBOM: wide === undefined }).decode(
      bytes,
    );
  } catch {
    return wide === undefined ? latinText(bytes) : undefined;
  }
}

function latinText(bytes: Uint8Array): string | undefined {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const high = raw.match(/[\x80-\xff]/g)?.length ?? 0;
  const letters = raw.match(letter)?.length ?? 0;
  const isLatin =
    !noLetter.test(raw) &&
    !utf8.test(raw) &&
    high <= raw.length * mostAccents &&
    letters >= high * leastLetters;
  // Node decodes `windows-1252` as plain Latin-1.
  return isLatin
    ? raw.replace(/[\x80-\x9f]/g, (sign) => windows[sign.charCodeAt(0) - 0x80]!)
    : undefined;
}
