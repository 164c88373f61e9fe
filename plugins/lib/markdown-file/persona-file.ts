import { nearest, type Persona } from 'svc/sdk';

import { errors } from './errors.ts';
import { headerReader, markdownReader, type Where } from './header-schema.ts';
import personaSchema from './persona.schema.json' with { type: 'json' };

type Header = Omit<Persona, 'unknown' | 'body' | 'source'>;

const read = markdownReader<Header>(personaSchema);
const readHeader = headerReader<Header>(personaSchema);

/**
 * Reads an agent from its markdown file; `source` is where the file is, never what its header
 * claims.
 */
export function readPersona(
  text: string,
  where: Where & { readonly source?: Persona['source'] },
): Persona {
  const { known, others, body } = read(text, where);
  requireSpelt(others, where);
  return Object.freeze({ ...known, unknown: others, body, source: where.source ?? 'disk' });
}

/** Reads a persona from a header given as an object; `body` is separate. */
export function personaOf(
  header: Readonly<Record<string, unknown>>,
  body: string,
  where: Where,
): Persona {
  const { known, others } = readHeader(header, where);
  requireSpelt(others, where);
  return Object.freeze({ ...known, unknown: others, body, source: 'user' });
}

/**
 * Other spellings of fields that hold a persona back, by their letters alone: one that is spelt
 * otherwise would be kept unread, and hold nothing back.
 */
const restricting: readonly (readonly [spelling: RegExp, meant: string])[] = [
  [/^(?:dis|den|block|forbid|exclu|except|without|no).*tool/, 'disallowed_tools'],
  [/tool(?!box|kit|chain|tip)|^to+l+[sz]*$/, 'tools'],
  [/^perm[a-z]*mode$|^permissions?$|^mode$/, 'permission_mode'],
  [/^max[a-z]*turn|^turns?(?:limit)?$/, 'max_turns'],
];

const meantBy = (letters: string): string | undefined =>
  restricting.find(([spelling]) => spelling.test(letters))?.[1];

function requireSpelt(others: Readonly<Record<string, unknown>>, { file }: Where): void {
  for (const key of Object.keys(others)) {
    const letters = key.toLowerCase().replaceAll(/[^a-z]/g, '');
    // Keys of extensions are their own; a typo in a long word means that word.
    const isForeign = /^x[-_]/i.test(key);
    const near =
      letters.length > 10 ? nearest(letters, ['disallowedtools', 'permissionmode']) : undefined;
    const meant = isForeign ? undefined : (meantBy(letters) ?? meantBy(near ?? ''));
    if (meant !== undefined) {
      throw errors.field_renamed(
        { file, key, meant },
        { details: [{ path: `/${key}`, message: `write ${meant}` }] },
      );
    }
  }
}
