import type { Principal } from '../sdk/index.ts';

export const anonymous: Principal = Object.freeze({
  kind: 'anonymous',
  id: 'anonymous',
  role: 'none',
  grants: Object.freeze([]),
});

/** Operator: whoever can read the key folder of this machine. */
export const operator: Principal = Object.freeze({
  kind: 'operator',
  id: 'operator',
  name: 'operator',
  role: 'admin',
  grants: Object.freeze(['*']),
});

/** One text per principal; ids are only unique within a kind. */
export const principalKey = (principal: Principal): string => `${principal.kind}:${principal.id}`;
