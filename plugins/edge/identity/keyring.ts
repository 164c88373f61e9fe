import type { EdgeKeyVerifier, VerifiedEdge } from 'svc/contracts/session';
import type { Clock, Ids } from 'svc/sdk';
import { verifySecret } from 'svc/tunnel';

import type { EdgeTable } from '../record/edge-table.ts';
import type { LiveKey } from '../record/live-key.ts';

export interface KeyringParts {
  readonly edgeTable: EdgeTable;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'token'>;
}

/** Owners of access keys, and the secrets that are valid at this moment. */
export class Keyring implements EdgeKeyVerifier {
  readonly #edgeTable: EdgeTable;
  readonly #clock: Clock;
  /** An access key that no edge has costs what a wrong secret costs. */
  readonly #decoy: string;

  constructor({ edgeTable, clock, ids }: KeyringParts) {
    this.#edgeTable = edgeTable;
    this.#clock = clock;
    this.#decoy = ids.token(32);
  }

  living(accessKey: string): readonly LiveKey[] {
    const keys = this.#edgeTable.byAccessKey(accessKey)?.keys ?? [];
    return keys.every(({ diesAt }) => diesAt === null)
      ? keys
      : keys.filter(({ diesAt }) => diesAt === null || diesAt > this.#clock.now());
  }

  recognise(accessKey: string, secretKey: string): VerifiedEdge | undefined {
    const keys = this.living(accessKey);
    const fits =
      keys.length === 0
        ? verifySecret(secretKey, this.#decoy) && false
        : keys.some(({ stored_key: stored }) => verifySecret(secretKey, stored));
    const record = fits ? this.#edgeTable.byAccessKey(accessKey) : undefined;
    return (
      record && {
        edge_id: record.id,
        ...(record.deviceId !== null && { device_id: record.deviceId }),
        ...(record.conflict && { disabled: true }),
      }
    );
  }
}
