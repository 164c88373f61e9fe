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

export const sealPlace = (edgeId: number, generation: number) => ({ table: 'edge_keys', row: `${edgeId}|${generation}`, column: 'server_key' });
export const offerPlace = (edgeId: number, generation: number) => ({ ...sealPlace(edgeId, generation), column: 'offer' });

/** The server key is opened when the first handshake asks for it: a start does not open those of the whole fleet. */
export function liveKey(row: KeyRow, secrets: Pick<Secrets, 'open'>): LiveKey {
  let sealed = row.server_key;
  let opened = false;
  return {
    generation: row.generation,
    diesAt: row.dies_at,
    offer: row.offer,
    stored_key: row.stored_key,
    get server_key() {
      if (!opened) {
        sealed = secrets.open(sealPlace(row.edge_id, row.generation), sealed);
        opened = true;
      }
      return sealed;
    },
  };
}
