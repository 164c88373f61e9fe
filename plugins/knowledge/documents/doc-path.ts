import { errors } from './errors.ts';

const maxBytes = 400;
const maxParts = 16;
const maxOfPart = 160;
/** Controls, what turns the direction of writing, and what has no width. */
// oxlint-disable-next-line no-control-regex -- these are what is refused
export const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * Normalizes a path: parts with single slashes between them, none that leads elsewhere; throws with
 * what is wrong.
 */
export function docPath(text: string): string {
  const path = text.normalize('NFC');
  const problem = problemOf(path);
  if (problem !== undefined) {
    throw errors.path_form(
      { text: JSON.stringify(text.slice(0, 200)), problem },
      { details: [{ path: '/path', message: problem }] },
    );
  }
  return path;
}

function problemOf(path: string): string | undefined {
  const parts = path.split('/');
  if (
    Buffer.byteLength(path) > maxBytes ||
    parts.length > maxParts ||
    parts.some((part) => Buffer.byteLength(part) > maxOfPart)
  ) {
    return `is too long: at most ${maxBytes} bytes, ${maxParts} parts, ${maxOfPart} bytes a part`;
  }
  if (path.search(unseen) >= 0 || path.includes('\\') || /\p{Surrogate}/u.test(path)) {
    return 'has characters that are not seen, or a backslash';
  }
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part !== part.trim())) {
    return 'must be names with single slashes between them, such as runbooks/db/restart.md, without "." or ".." and spaces around a name';
  }
  return undefined;
}

/** The folders above a path, the outermost first: `a`, `a/b` of `a/b/c.md`. */
export function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Title of a document that was given none: its first heading, else the name of its file. */
export function titleOf(content: string, path: string): string {
  const heading = /^#{1,3}[ \t]+(.{1,400}?)[ \t]*#*[ \t]*\r?$/m.exec(content.slice(0, 16_384))?.[1];
  const plain = heading
    ?.replace(/[`*_]/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim();
  return (plain ?? '') === ''
    ? nameOf(path).replace(/\.(?:md|markdown|txt|pdf|docx)$/i, '') || path
    : plain!.slice(0, 200);
}

/** All that begins with a folder, for a comparison of texts: from the first one to before the last one. */
export const within = (folder: string): readonly [from: string, before: string] => [
  `${folder}/`,
  `${folder}0`,
];
