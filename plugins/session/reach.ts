import { type Principal, SvcError } from 'svc/sdk';

import { holdsEverything } from './grants.ts';

/** Whose sessions and tokens somebody may touch: one person's, or everyone's. */
export type Reach = number | 'everyone';

export const reachOf = (actor: Principal): Reach => (holdsEverything(actor) ? 'everyone' : ownId(actor));

/** Whose list an actor asks for: their own unless they name somebody else, which is for administrators. */
export function askedUser(actor: Principal, userId: number | undefined): number {
  const asked = userId ?? ownId(actor);
  const reach = reachOf(actor);
  if (reach !== 'everyone' && reach !== asked) {
    throw new SvcError('forbidden', 'only administrators see what belongs to other people; leave user_id out for your own');
  }
  return asked;
}

/** The person behind an actor; 0, which is nobody's, for an operator. */
export const ownId = ({ kind, id }: Principal): number => (kind === 'user' || kind === 'token' ? Number(id) : 0);
