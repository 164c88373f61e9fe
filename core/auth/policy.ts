import type { Access, Principal } from '../sdk/index.ts';

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
 * Returns whether `principal` may call a route of the plugin `area` declared with `access`; `acts`
 * means it is not a GET. Anything unknown is refused.
 */
export function allows(
  principal: Principal,
  access: Access,
  params: Readonly<Record<string, unknown>> = {},
  area = '',
  acts = false,
): boolean {
  if (typeof access === 'object') {
    return (
      allows(principal, access.action, params) ||
      ('self' in access ? isSelf(principal, params[access.self]) : principal.kind === 'edge')
    );
  }
  switch (access) {
    case 'public':
      return true;
    case 'known':
      return isPerson(principal);
    case 'any':
      return isPerson(principal) && (principal.kind !== 'token' || isGiven(principal, area, acts));
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

const isGiven = (token: Principal, area: string, acts: boolean): boolean =>
  holds(token, `read:${area}`) ||
  (acts && token.grants.some((grant) => grant.startsWith(`${area}:`)));

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
