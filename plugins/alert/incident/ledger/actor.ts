import type { Principal } from 'svc/sdk';

import type { Actor } from './incident.ts';

const kinds: Readonly<Record<Principal['kind'], Actor['type']>> = {
  anonymous: 'user',
  user: 'user',
  token: 'user',
  operator: 'user',
  plugin: 'agent',
  system: 'system',
  edge: 'system',
};

/** Returns the actor of a timeline row. */
export const actorOf = ({ kind, id, email, name }: Principal): Actor => ({
  type: kinds[kind],
  id,
  name: email ?? name ?? `${kind} ${id}`,
});
