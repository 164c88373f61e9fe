import { type Principal, SvcError } from 'svc/sdk';

import { limits } from './limits.ts';

/** How many shells there may be at once. */
export interface Seats {
  /** Throws rate_limited when there is none left; the returned function gives it back. */
  take(principal: Principal, deviceId: number): () => void;
  /** The same, without taking one. */
  check(principal: Principal, deviceId: number): void;
}

export function createSeats(): Seats {
  const taken = new Set<{ readonly user: string; readonly deviceId: number }>();

  function check(principal: Principal, deviceId: number): void {
    const user = personOf(principal);
    const own = [...taken].filter((seat) => seat.user === user).length;
    const here = [...taken].filter((seat) => seat.deviceId === deviceId).length;
    const limit =
      own >= limits.perUser
        ? `you have ${own} shells open, which is as many as one person may have`
        : here >= limits.perDevice
          ? `there are ${here} shells open on this device, which is as many as it may have`
          : taken.size >= limits.total
            ? `there are ${taken.size} shells open, which is as many as there may be`
            : undefined;
    if (limit !== undefined) {
      throw new SvcError('rate_limited', `${limit}; end one first`);
    }
  }

  return {
    check,
    take(principal, deviceId) {
      check(principal, deviceId);
      const seat = { user: personOf(principal), deviceId };
      taken.add(seat);
      return () => void taken.delete(seat);
    },
  };
}

/** A person and their API tokens are one. */
export const personOf = ({ kind, id }: Principal): string => (kind === 'token' ? `user:${id}` : `${kind}:${id}`);
