import type { Principal } from 'svc/sdk';

import { errors } from './errors.ts';
import { holdsEverything } from './grants.ts';

/** User whose sessions and tokens an actor may touch: one person, or everyone. */
export type Reach = number | 'everyone';

export const reachOf = (actor: Principal): Reach =>
  holdsEverything(actor) ? 'everyone' : ownId(actor);

/**
 * Returns whose list an actor requests: their own unless they name another person, which is for
 * administrators.
 */
export function askedUser(actor: Principal, userId: number | undefined): number {
  const asked = userId ?? ownId(actor);
  const reach = reachOf(actor);
  if (reach !== 'everyone' && reach !== asked) {
    throw errors.not_yours();
  }
  return asked;
}

/** The person behind an actor; 0, which no account has, for an operator. */
export const ownId = ({ kind, id }: Principal): number =>
  kind === 'user' || kind === 'token' ? Number(id) : 0;

/** A stolen API token must not be able to make a longer-lived one of itself. */
export function assertInPerson({ kind }: Principal): void {
  if (kind === 'token') {
    throw errors.token_manages();
  }
}
