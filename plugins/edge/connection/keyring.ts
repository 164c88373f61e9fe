import type { Clock, Ids } from 'svc/sdk';
import { verifySecret } from 'svc/tunnel';

import type { EdgeKeyVerifier } from '../../session/contract.ts';
import type { LiveKey } from './live-key.ts';
import type { Roll } from '../edge-table.ts';

/** Who an access key belongs to, and which of its secrets live at this moment. */
export interface Keyring extends EdgeKeyVerifier {
  living(accessKey: string): readonly LiveKey[];
}

export function createKeyring(roll: Roll, clock: Clock, ids: Pick<Ids, 'token'>): Keyring {
  // An access key that nobody has costs what a wrong secret costs.
  const nobodys = ids.token(32);

  const living = (accessKey: string): readonly LiveKey[] => {
    const keys = roll.byAccessKey(accessKey)?.keys ?? [];
    return keys.every(({ diesAt }) => diesAt === null) ? keys : keys.filter(({ diesAt }) => diesAt === null || diesAt > clock.now());
  };

  return {
    living,
    recognise(accessKey, secretKey) {
      const keys = living(accessKey);
      const fits = keys.length === 0 ? verifySecret(secretKey, nobodys) && false : keys.some(({ stored_key: stored }) => verifySecret(secretKey, stored));
      const record = fits ? roll.byAccessKey(accessKey) : undefined;
      return record && { edge_id: record.id, ...(record.deviceId !== null && { device_id: record.deviceId }), ...(record.conflict && { disabled: true }) };
    },
  };
}
