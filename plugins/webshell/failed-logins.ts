import { type Clock, SvcError } from 'svc/sdk';

import { limits } from './limits.ts';

/** A shell must not become a way to guess passwords of a device. */
export interface FailedLogins {
  /** Throws rate_limited while there were too many. */
  check(deviceId: number): void;
  count(deviceId: number): void;
}

export function createFailedLogins(clock: Clock): FailedLogins {
  const failures = new Map<number, number[]>();
  const recent = (deviceId: number): number[] => (failures.get(deviceId) ?? []).filter((at) => at > clock.monotonic() - limits.failedLoginsMs);
  return {
    check(deviceId) {
      const found = recent(deviceId);
      if (found.length === 0) {
        failures.delete(deviceId);
      }
      if (found.length >= limits.failedLogins) {
        throw new SvcError('rate_limited', 'too many logins on this device have failed; wait a minute', { retryAfterSeconds: 60 });
      }
    },
    count(deviceId) {
      failures.set(deviceId, [...recent(deviceId), clock.monotonic()]);
    },
  };
}
