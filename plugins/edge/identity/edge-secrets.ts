import { parseDuration, type ScopeSource, scopeOf } from 'svc/query';
import type { Call, Clock, Handle, Ids, Secrets, Tables } from 'svc/sdk';
import { makeCredentials } from 'svc/tunnel';
import type { Static } from 'typebox';

import { assertFound, edgeStore, found, foundFor } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeEvents } from '../record/events.ts';
import { keyStore } from '../record/key-store.ts';
import { offerPlace, sealPlace } from '../record/live-key.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { RotateRequest } from '../record/schema.ts';
import type { EdgeView, ShownEdge } from '../record/shown.ts';
import type { EdgeDb, EdgeRow, EdgeTables } from '../record/tables.ts';
import type { CloneDetector } from './clone-detector.ts';
import { errors } from './errors.ts';
import { canBeOffered, isBeingOffered, type Rotations } from './rotations.ts';

export interface EdgeSecretParts {
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly secrets: Secrets;
  readonly scopes: Handle<ScopeSource>;
  readonly rotations: Rotations;
  readonly clones: CloneDetector;
  readonly view: EdgeView;
  readonly events: EdgeEvents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly inBackground: (task: string, work: () => Promise<void>) => void;
}

/** Older secret that stays valid until then alongside the new one. */
interface Survivor {
  readonly generation: number;
  readonly diesAt: number;
}

interface Change {
  readonly survivor: Survivor | undefined;
  /** The edge is given the new secret over its tunnel. */
  readonly offered: boolean;
  /** True to replace it even if the edge has not taken the previous secret. */
  readonly immediate: boolean;
}

const longestGraceMs = 24 * 3_600_000;

/** Secrets by which edges authenticate: made here, shown once, replaced on demand. */
export class EdgeSecrets {
  readonly #parts: EdgeSecretParts;

  constructor(parts: EdgeSecretParts) {
    this.#parts = parts;
  }

  /** Another generation for this edge; `offered` keeps it sealed until the edge has taken it. */
  async issue(tx: EdgeDb, edgeId: number, generation: number, offered = false): Promise<string> {
    const { secrets, clock, ids } = this.#parts;
    const { secret_key, stored_key, server_key } = makeCredentials(ids);
    const sealed = secrets.seal(sealPlace(edgeId, generation), server_key);
    const offer = offered ? secrets.seal(offerPlace(edgeId, generation), secret_key) : null;
    await keyStore(tx).add({
      edge_id: edgeId,
      generation,
      stored_key,
      server_key: sealed,
      offer,
      dies_at: null,
      created_at: clock.now(),
    });
    return secret_key;
  }

  /** Gives an edge that has never connected another secret. */
  async renew(tx: EdgeDb, edgeId: number): Promise<string> {
    const generations = (await keyStore(tx).of(edgeId)).map(({ generation }) => generation);
    await keyStore(tx).drop(edgeId, generations);
    return await this.issue(tx, edgeId, (generations[0] ?? 0) + 1);
  }

  async rotate(
    by: Pick<Call, 'principal' | 'note'>,
    id: number,
    { grace = '0s', immediate = false }: Static<typeof RotateRequest>,
  ): Promise<ShownEdge & { readonly secret_key: string }> {
    const { edgeTable, tables, scopes, rotations, clones, events, view, inBackground } =
      this.#parts;
    const graceMs = graceOf(grace, immediate);
    await foundFor(await scopeOf(scopes, by.principal), id, tables.read);
    const record = assertFound(edgeTable.byId(id), id);
    const offered = !immediate && canBeOffered(record);
    const survivor = this.#survivor(record, immediate ? 0 : offered ? longestGraceMs : graceMs);
    const made = await this.#replace(by, id, { survivor, offered, immediate });
    const wasInConflict = record.conflict !== undefined;
    await edgeTable.reload(id);
    clones.forget(id);
    if (wasInConflict) {
      events.conflict(record);
    }
    if (record.tunnel) {
      inBackground('offer the new secret', () => rotations.offer(record));
    }
    rotations.expire(record);
    return { ...view.of(made.row), secret_key: made.secretKey };
  }

  async #replace(
    by: Pick<Call, 'note'>,
    id: number,
    { survivor, offered, immediate }: Change,
  ): Promise<{ row: EdgeRow; secretKey: string }> {
    const { tables, clock, view } = this.#parts;
    return await tables.write(async (tx) => {
      const before = view.of(await found(id, tx));
      const store = keyStore(tx);
      const keys = await store.of(id);
      if (isBeingOffered({ keys }) && !immediate) {
        throw errors.secret_not_taken({ id });
      }
      const generation = (keys[0]?.generation ?? 0) + 1;
      await store.drop(
        id,
        keys.map((key) => key.generation).filter((older) => older !== survivor?.generation),
      );
      if (survivor) {
        await store.setExpiry(id, survivor.generation, survivor.diesAt);
      }
      const secretKey = await this.issue(tx, id, generation, offered && survivor !== undefined);
      // The machine that has the new secret is the one that is meant.
      const row = await edgeStore(tx).update(
        id,
        { conflict_since: null, conflict_machines: null, only_machine: null },
        clock.now(),
      );
      by.note({ before, after: { ...view.of(row), secret_generation: generation } });
      return { row, secretKey };
    });
  }

  /** Which of the older secrets may go on, and until when: the one the edge has, as far as the manager knows. */
  #survivor(record: EdgeRecord, livesMs: number): Survivor | undefined {
    const generation = record.tunnel?.generation ?? record.keys.at(-1)?.generation;
    return generation === undefined || livesMs === 0
      ? undefined
      : { generation, diesAt: this.#parts.clock.now() + livesMs };
  }
}

function graceOf(grace: string, immediate: boolean): number {
  const ms = parseDuration(grace);
  if (ms > longestGraceMs) {
    throw errors.grace({ details: [{ path: '/grace', message: 'is at most 24h' }] });
  }
  if (immediate && ms > 0) {
    throw errors.immediate_and_grace({
      details: [{ path: '/immediate', message: 'goes with no grace' }],
    });
  }
  return ms;
}
