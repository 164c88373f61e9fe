import { type Clock, type Principal, SvcError } from 'svc/sdk';

const most = 10;
const windowMs = 60_000;
const mostPrincipals = 1_000;

/** Counts one reveal of this principal, or refuses it: a stolen session must not empty the house in one go. */
export type RevealAllowance = (principal: Principal) => void;

export function revealAllowance(clock: Clock): RevealAllowance {
  const times = new Map<string, readonly number[]>();

  return ({ kind, id }) => {
    const who = `${kind}:${id}`;
    const now = clock.monotonic();
    const recent = (times.get(who) ?? []).filter((at) => at > now - windowMs);
    if (recent.length >= most) {
      throw new SvcError('rate_limited', `${most} secrets a minute may be revealed; wait a moment`, {
        retryAfterSeconds: (recent[0]! + windowMs - now) / 1_000,
      });
    }
    // In the order of the last reveal, so that whoever has been quiet for longest makes room.
    times.delete(who);
    times.set(who, [...recent, now]);
    if (times.size > mostPrincipals) {
      times.delete(times.keys().next().value!);
    }
  };
}
