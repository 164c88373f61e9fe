import { personaOf } from 'svc/markdown-file';
import type { SvcError } from 'svc/sdk';
import { type Call, type Clock, type Persona, type Tables } from 'svc/sdk';

import { errors } from './errors.ts';
import { checkedPrompt } from './initial-prompt.ts';
import { type OwnRow, personaStore, type PersonaTables } from './store.ts';

/** A persona that a user made, and when. */
export interface OwnPersona {
  readonly persona: Persona;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A header as a caller writes it, with the system prompt as `body`. */
export type Draft = Readonly<Record<string, unknown>>;

/** Fields that callers read of a persona and may send back, but cannot set. */
const notOfHeader: ReadonlySet<string> = new Set([
  'body',
  'source',
  'unknown_fields',
  'version',
  'unmet',
  'unknown_tools',
  'problem',
  'created_at',
  'updated_at',
]);

/** Personas that users made: in the database, and in memory for everybody who asks. */
export class OwnPersonas {
  readonly #tables: Tables<PersonaTables>;
  readonly #clock: Clock;
  #all: ReadonlyMap<string, OwnPersona> = new Map();

  constructor(tables: Tables<PersonaTables>, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  /** The same map until one of them changes. */
  get all(): ReadonlyMap<string, OwnPersona> {
    return this.#all;
  }

  async load(): Promise<void> {
    const rows = await personaStore(this.#tables.read).own();
    this.#all = new Map(rows.map((row) => [row.name, shownRow(row)]));
  }

  async create(draft: Draft): Promise<OwnPersona> {
    const { header, body } = partsOf(draft);
    const { name } = checked(header, body);
    const now = this.#clock.now();
    return this.#write(name, (row) => {
      if (row) {
        throw errors.already_made({ name });
      }
      return { name, header: JSON.stringify(header), body, created_at: now, updated_at: now };
    });
  }

  async update(
    name: string,
    draft: Draft,
    requireMatch: Call['requireMatch'],
    stamp: (at: number) => string,
  ): Promise<OwnPersona> {
    return this.#write(name, (row) => {
      if (!row) {
        throw missing(name);
      }
      requireMatch({ updated_at: stamp(row.updated_at) });
      const change = partsOf(draft);
      const header = { ...(JSON.parse(row.header) as Draft), ...change.header };
      const body = 'body' in draft ? change.body : row.body;
      if (checked(header, body).name !== name) {
        throw errors.keeps_name(
          { name },
          { details: [{ path: '/name', message: `is not "${name}"` }] },
        );
      }
      return {
        ...row,
        header: JSON.stringify(header),
        body,
        updated_at: Math.max(this.#clock.now(), row.updated_at + 1),
      };
    });
  }

  async remove(name: string): Promise<void> {
    await this.#tables.write(async (tx) => {
      const store = personaStore(tx);
      if (!(await store.find(name))) {
        throw missing(name);
      }
      await store.remove(name);
    });
    await this.load();
  }

  async #write(name: string, make: (row: OwnRow | undefined) => OwnRow): Promise<OwnPersona> {
    await this.#tables.write(async (tx) => {
      const store = personaStore(tx);
      await store.put(make(await store.find(name)));
    });
    await this.load();
    const own = this.#all.get(name);
    if (own === undefined) {
      // Deleted by another call since it was written.
      throw missing(name);
    }
    return own;
  }
}

function partsOf(draft: Draft): { readonly header: Draft; readonly body: string } {
  const { body = '', unknown_fields: others } = draft;
  if (typeof body !== 'string') {
    throw errors.body({ details: [{ path: '/body', message: 'must be a text' }] });
  }
  const kept = typeof others === 'object' && others !== null ? others : {};
  return {
    header: {
      ...kept,
      ...Object.fromEntries(Object.entries(draft).filter(([key]) => !notOfHeader.has(key))),
    },
    body,
  };
}

function checked(header: Draft, body: string): Persona {
  const persona = personaOf(header, body, { file: 'persona' });
  checkedPrompt(persona);
  return persona;
}

const shownRow = ({ header, body, created_at, updated_at }: OwnRow): OwnPersona => ({
  persona: personaOf(JSON.parse(header) as Draft, body, { file: 'persona' }),
  created_at,
  updated_at,
});

const missing = (name: string): SvcError => errors.no_own_persona({ name });
