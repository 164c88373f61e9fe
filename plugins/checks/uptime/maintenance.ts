import type { Maintenance } from 'svc/contracts/alert';
import type { Handle } from 'svc/sdk';

import type { Check } from '../check/check.ts';

/**
 * Returns whether announced work covers a check now. Who silences what is already down says so of
 * the alert; the downtime stays downtime.
 */
export const maintainedBy =
  (maintenance: Handle<Maintenance>) =>
  ({ name, definition, state, since }: Check): boolean => {
    const announcedAt = maintenance.available
      ? maintenance
          .get()
          .announcedAt({ check: name, kind: definition.kind, group: definition.group })
      : undefined;
    return announcedAt !== undefined && (state !== 'down' || announcedAt <= since);
  };
