import { type Access, mayRead, type Principal } from '../sdk/index.ts';

interface Grants {
  readonly all: boolean;
  readonly areas: ReadonlySet<string>;
  readonly exact: ReadonlySet<string>;
}

/**
 * Compiled grants by array identity: an authenticator that keeps its principals pays for compiling
 * once.
 */
const compiled = new WeakMap<readonly string[], Grants>();

/**
 * Returns whether `principal` fits the declared `access` of a route; what an API token may read is
 * asked apart (`readsAll`). Anything unknown is refused.
 */
export function allows(
  principal: Principal,
  access: Access,
  params: Readonly<Record<string, unknown>> = {},
): boolean {
  if (typeof access === 'object') {
    return allows(principal, access.action, params) || isAlso(principal, access, params);
  }
  switch (access) {
    case 'public':
      return true;
    case 'known':
    case 'any':
      return isPerson(principal);
    case 'admin':
      return isPerson(principal) && grantsOf(principal).all;
    case 'machine':
      return principal.kind === 'edge';
    default:
      return isPerson(principal) && holds(principal, access);
  }
}

/** Returns whether the principal's grants cover `action`, whatever its kind. */
export function holds(principal: Principal, action: string): boolean {
  const { all, exact, areas } = grantsOf(principal);
  return all || exact.has(action) || areas.has(action.slice(0, Math.max(action.indexOf(':'), 0)));
}

/** A stolen edge key must open the data plane only, so a machine is nobody on the routes of people. */
const isPerson = (principal: Principal): boolean =>
  principal.kind !== 'anonymous' && principal.kind !== 'edge';

/** Returns whether the principal may read each of these areas. */
export const readsAll = (principal: Principal, areas: readonly string[]): boolean =>
  areas.every((area) => mayRead(principal, area));

/** Returns whether a principal without the action is among those whom the access admits as well. */
function isAlso(
  principal: Principal,
  access: Extract<Access, object>,
  params: Readonly<Record<string, unknown>>,
): boolean {
  if ('self' in access) {
    return isSelf(principal, params[access.self]);
  }
  return 'machine' in access
    ? principal.kind === 'edge'
    : isPerson(principal) && principal.kind !== 'token';
}

/**
 * Returns whether a principal is that user: only a signed-in one is, as an API token is limited to
 * its grants.
 */
const isSelf = ({ kind, id: own }: Principal, id: unknown): boolean =>
  kind === 'user' && (typeof id === 'string' || typeof id === 'number') && String(id) === own;

const grantsOf = ({ grants }: Principal): Grants => compiled.get(grants) ?? compile(grants);

function compile(list: readonly string[]): Grants {
  const areas = list
    .filter((grant) => /^[^:*]+:\*$/.test(grant))
    .map((grant) => grant.slice(0, -2));
  const grants = {
    all: list.includes('*'),
    areas: new Set(areas),
    exact: new Set(list.filter((grant) => !grant.includes('*'))),
  };
  compiled.set(list, grants);
  return grants;
}
