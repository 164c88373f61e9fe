import personaSchema from './persona.schema.json' with { type: 'json' };
import type { Persona } from 'svc/sdk';
import { headerReader, markdownReader, type Where } from './header-schema.ts';

type Header = Omit<Persona, 'unknown' | 'body' | 'source'>;

const read = markdownReader<Header>(personaSchema);
const readHeader = headerReader<Header>(personaSchema);

/** An agent from its markdown file; `source` is where the file stands, never what its header claims. */
export function readPersona(text: string, where: Where & { readonly source?: Persona['source'] }): Persona {
  const { known, others, body } = read(text, where);
  return Object.freeze({ ...known, unknown: others, body, source: where.source ?? 'disk' });
}

/** The same from a header that somebody wrote as an object; `body` stands beside it. */
export function personaOf(header: Readonly<Record<string, unknown>>, body: string, where: Where): Persona {
  const { known, others } = readHeader(header, where);
  return Object.freeze({ ...known, unknown: others, body, source: 'user' });
}
