import { createHash } from 'node:crypto';

import type { AlertSource, OthersAlerts } from 'svc/contracts/alert';
import { formatDuration, parseDuration } from 'svc/query';
import {
  type Call,
  type Clock,
  type Handle,
  type Ids,
  isSvcError,
  type Page,
  type PageRequest,
  type Secrets,
  type Tables,
  timestamp,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { errors } from './errors.ts';
import type { SourceChange, SourceMade, SourceShown } from './schema.ts';
import { type SourceRow, sourceStore, type SourceTables } from './source-store.ts';

export interface SourceParts {
  readonly tables: Tables<SourceTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: () => string;
  readonly alerts: Handle<OthersAlerts>;
}

type Change = Pick<Call, 'note' | 'requireMatch'>;
type Shown = Static<typeof SourceShown>;

export const hookPath = '/api/v1/alert-sources/hooks';
export const mask = '••••';
const mostSources = 100;
const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Systems that tell their alerts here. The secret of an address is shown when it is made, and only its digest is kept. */
export class Sources {
  readonly #parts: SourceParts;

  constructor(parts: SourceParts) {
    this.#parts = parts;
  }

  async list(page: PageRequest): Promise<Page<Shown>> {
    const { items, ...rest } = await sourceStore(this.#parts.tables.read).list(page);
    return { ...rest, items: items.map(shownOf) };
  }

  async get(id: number): Promise<Shown> {
    return shownOf(await this.#row(id));
  }

  create(call: Change, key: string, draft: SourceChange): Promise<Static<typeof SourceMade>> {
    const { tables, ids, clock } = this.#parts;
    const token = ids.token(32);
    return tables.write(async (tx) => {
      const store = sourceStore(tx);
      const all = await store.all();
      if (all.some((row) => row.key === key)) {
        throw errors.taken({ key }, { details: [{ path: '/key', message: 'is taken' }] });
      }
      if (all.length >= mostSources) {
        throw errors.too_many({ max: mostSources });
      }
      const now = Math.floor(clock.now());
      const fields = {
        ...fieldsOf(draft, undefined),
        key,
        token_digest: digestOf(token),
        signing_secret: null,
        created_at: now,
        updated_at: now,
      };
      const { id } = await store.insert(fields);
      const row = await store.update(id, {
        signing_secret: this.#sealed(id, draft.signing_secret, null),
      });
      call.note({ resourceType: 'alert source', resourceId: id, after: notedOf(row) });
      return { ...shownOf(row), url: this.#urlOf(token) };
    });
  }

  replace(call: Change, id: number, draft: SourceChange): Promise<Shown> {
    const { tables, clock } = this.#parts;
    return tables.write(async (tx) => {
      const store = sourceStore(tx);
      const row = (await store.find(id)) ?? missing(id);
      call.requireMatch(shownOf(row));
      const signing_secret = this.#sealed(id, draft.signing_secret, row.signing_secret);
      const updated_at = Math.max(row.updated_at + 1, Math.floor(clock.now()));
      const updated = await store.update(id, {
        ...fieldsOf(draft, row),
        signing_secret,
        updated_at,
      });
      call.note({
        resourceType: 'alert source',
        resourceId: id,
        before: notedOf(row),
        after: notedOf(updated),
      });
      return shownOf(updated);
    });
  }

  /** Another address; the one before is refused from then on. */
  rotate(call: Change, id: number): Promise<Static<typeof SourceMade>> {
    const { tables, clock, ids } = this.#parts;
    const token = ids.token(32);
    return tables.write(async (tx) => {
      const store = sourceStore(tx);
      const row = (await store.find(id)) ?? missing(id);
      const updated = await store.update(id, {
        token_digest: digestOf(token),
        updated_at: Math.max(row.updated_at + 1, Math.floor(clock.now())),
      });
      call.note({
        resourceType: 'alert source',
        resourceId: id,
        before: notedOf(row),
        after: notedOf(updated),
      });
      return { ...shownOf(updated), url: this.#urlOf(token) };
    });
  }

  async remove(call: Change, id: number): Promise<void> {
    const { tables, alerts } = this.#parts;
    await tables.write(async (tx) => {
      const row = (await sourceStore(tx).find(id)) ?? missing(id);
      call.requireMatch(shownOf(row));
      await sourceStore(tx).remove(id);
      call.note({ resourceType: 'alert source', resourceId: id, before: notedOf(row) });
    });
    // A kill before this is made up for at the next start.
    if (alerts.available) {
      await alerts.get().endAll(id);
    }
  }

  /** Returns the source with this address; undefined if there is none, or it is disabled. */
  async byToken(token: string): Promise<SourceRow | undefined> {
    const row = await sourceStore(this.#parts.tables.read).byDigest(digestOf(token));
    return row?.enabled === 1 ? row : undefined;
  }

  async byKey(key: string): Promise<SourceRow> {
    const row = await sourceStore(this.#parts.tables.read).byKey(key);
    if (row?.enabled !== 1) {
      throw errors.not_enabled({ key });
    }
    return row;
  }

  /** Undefined where requests need no signature. */
  signingSecret({ id, key, signing_secret: sealed }: SourceRow): string | undefined {
    try {
      return sealed === null ? undefined : this.#parts.secrets.open(placeOf(id), sealed);
    } catch (error) {
      throw isSvcError(error) ? errors.sealed({ key }, { cause: error }) : error;
    }
  }

  /** Resolves alerts that were not re-sent in time, and those left by deleted sources. */
  async upkeep(): Promise<void> {
    const { alerts, tables } = this.#parts;
    if (!alerts.available) {
      return;
    }
    const rows = await sourceStore(tables.read).all();
    for (const row of rows) {
      await alerts.get().endUnheard(sourceOf(row), row.unheard_ms);
    }
    for (const id of alerts.get().sources()) {
      if (!rows.some((row) => row.id === id)) {
        await alerts.get().endAll(id);
      }
    }
  }

  async #row(id: number): Promise<SourceRow> {
    return (await sourceStore(this.#parts.tables.read).find(id)) ?? missing(id);
  }

  #sealed(id: number, given: string | undefined, old: string | null): string | null {
    return given === mask
      ? old
      : given === undefined || given === ''
        ? null
        : this.#parts.secrets.seal(placeOf(id), given);
  }

  #urlOf(token: string): string {
    return `${this.#parts.publicUrl().replace(/\/$/, '')}${hookPath}/${token}`;
  }
}

const placeOf = (id: number) => ({
  table: 'alert_sources_peers',
  row: String(id),
  column: 'signing_secret',
});

const missing = (id: number): never => {
  throw errors.unknown({ id });
};

export const sourceOf = ({ id, key, dimensions }: SourceRow): AlertSource => ({
  id,
  key,
  dimensions: JSON.parse(dimensions) as string[],
});

const fieldsOf = (
  { dimensions, default_severity, unheard_after, enabled }: SourceChange,
  row: SourceRow | undefined,
) => ({
  dimensions:
    dimensions === undefined ? (row?.dimensions ?? '["instance"]') : JSON.stringify(dimensions),
  default_severity: default_severity ?? row?.default_severity ?? ('warning' as const),
  unheard_ms:
    unheard_after === undefined ? (row?.unheard_ms ?? 86_400_000) : parseDuration(unheard_after),
  enabled: (enabled ?? row?.enabled !== 0) ? 1 : 0,
});

/** Returns a source for the audit log, which masks whatever is named key: its key is a plain name. */
const notedOf = (row: SourceRow): Record<string, unknown> => {
  const { key, ...rest } = shownOf(row);
  return { name: key, ...rest };
};

const shownOf = (row: SourceRow): Shown => ({
  id: row.id,
  key: row.key,
  dimensions: JSON.parse(row.dimensions) as string[],
  default_severity: row.default_severity,
  unheard_after: formatDuration(row.unheard_ms),
  signing_secret: row.signing_secret === null ? null : mask,
  signed: row.signing_secret !== null,
  enabled: row.enabled === 1,
  created_at: timestamp(row.created_at),
  updated_at: timestamp(row.updated_at),
});
