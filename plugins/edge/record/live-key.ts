import type { Secrets } from 'svc/sdk';
import type { StoredKeys } from 'svc/tunnel';

import type { KeyRow } from './tables.ts';

/** One generation of an edge's secret that still lives. */
export interface LiveKey extends StoredKeys {
  readonly generation: number;
  /** Milliseconds since the epoch; null: until it is replaced. */
  readonly diesAt: number | null;
  /** The secret itself, sealed: only while its edge has not proved it. */
  offer: string | null;
}

export const sealPlace = (edgeId: number, generation: number) => ({
  table: 'edge_keys',
  row: `${edgeId}|${generation}`,
  column: 'server_key',
});
export const offerPlace = (edgeId: number, generation: number) => ({
  ...sealPlace(edgeId, generation),
  column: 'offer',
});

export const liveKey = (row: KeyRow, secrets: Pick<Secrets, 'open'>): LiveKey =>
  new SealedKey(row, secrets);

/** The server key is opened when the first handshake asks for it: a start does not open those of the whole fleet. */
class SealedKey implements LiveKey {
  readonly generation: number;
  readonly diesAt: number | null;
  readonly stored_key: string;
  offer: string | null;
  readonly #edgeId: number;
  /** Secrets, until it is opened. */
  #secrets: Pick<Secrets, 'open'> | undefined;
  #serverKey: string;

  constructor(row: KeyRow, secrets: Pick<Secrets, 'open'>) {
    this.generation = row.generation;
    this.diesAt = row.dies_at;
    this.stored_key = row.stored_key;
    this.offer = row.offer;
    this.#edgeId = row.edge_id;
    this.#secrets = secrets;
    this.#serverKey = row.server_key;
  }

  get server_key(): string {
    if (this.#secrets) {
      this.#serverKey = this.#secrets.open(
        sealPlace(this.#edgeId, this.generation),
        this.#serverKey,
      );
      this.#secrets = undefined;
    }
    return this.#serverKey;
  }
}
