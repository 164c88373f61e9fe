import personaSchema from './persona.schema.json' with { type: 'json' };
import type { Persona } from 'svc/sdk';
import { markdownReader, type Where } from './header-schema.ts';

const read = markdownReader<Omit<Persona, 'unknown' | 'body' | 'source'>>(personaSchema);

/** An agent from its markdown file; `source` is where the file stands, never what its header claims. */
export function readPersona(text: string, where: Where & { readonly source?: Persona['source'] }): Persona {
  const { known, others, body } = read(text, where);
  return Object.freeze({ ...known, unknown: others, body, source: where.source ?? 'disk' });
}
