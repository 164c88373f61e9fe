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

/** Fields that hold a persona back, by their letters alone: one that is spelt otherwise would be kept unread, and hold nothing back. */
const restricting: ReadonlyMap<string, string> = new Map([
  ['tool', 'tools'],
  ['allowedtool', 'tools'],
  ['disallowedtool', 'disallowed_tools'],
  ['permissionmode', 'permission_mode'],
]);

function requireSpelt(others: Readonly<Record<string, unknown>>, { file }: Where): void {
  for (const key of Object.keys(others)) {
    const letters = key
      .toLowerCase()
      .replaceAll(/[^a-z]/g, '')
      .replace(/s$/, '');
    // A typo in a long word means that word; in a short one it may be another.
    const long = [...restricting.keys()].filter(({ length }) => length > 10);
    const meant =
      restricting.get(letters) ??
      restricting.get((letters.length > 10 && nearest(letters, long)) || '');
    if (meant !== undefined) {
      throw errors.field_renamed(
        { file, key, meant },
        { details: [{ path: `/${key}`, message: `write ${meant}` }] },
      );
    }
  }
}
