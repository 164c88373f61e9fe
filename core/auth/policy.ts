import type { Access, Principal } from '../sdk/index.ts';

interface Grants {
  readonly all: boolean;
  readonly areas: ReadonlySet<string>;
  readonly exact: ReadonlySet<string>;
}

/** By array identity: an authenticator that keeps its principals pays for compiling once. */
const compiled = new WeakMap<readonly string[], Grants>();

/** Whether `principal` may pass a route declared with `access`. What is not understood is refused. */
export function allows(principal: Principal, access: Access, params: Readonly<Record<string, unknown>> = {}): boolean {
  if (typeof access === 'object') {
    return allows(principal, access.action, params) || ('self' in access ? isSelf(principal, params[access.self]) : principal.kind === 'edge');
  }
  switch (access) {
    case 'public':
      return true;
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

/** Whether the principal's grants cover `action`, whatever its kind. */
export function holds(principal: Principal, action: string): boolean {
  const grants = grantsOf(principal);
  if (grants.all || grants.exact.has(action)) {
    return true;
  }
  const colon = action.indexOf(':');
  return colon > 0 && grants.areas.has(action.slice(0, colon));
}

/** A stolen edge key must open the data plane only, so a machine is nobody on the routes of people. */
const isPerson = (principal: Principal): boolean => principal.kind !== 'anonymous' && principal.kind !== 'edge';

/** Only a signed-in user is themself: an API token is scoped by its grants and nothing else. */
function isSelf(principal: Principal, id: unknown): boolean {
  return principal.kind === 'user' && (typeof id === 'string' || typeof id === 'number') && String(id) === principal.id;
}

function grantsOf(principal: Principal): Grants {
  let grants = compiled.get(principal.grants);
  if (!grants) {
    grants = compile(principal.grants);
    compiled.set(principal.grants, grants);
  }
  return grants;
}

function compile(list: readonly string[]): Grants {
  const areas = list.filter((grant) => /^[^:*]+:\*$/.test(grant)).map((grant) => grant.slice(0, -2));
  return { all: list.includes('*'), areas: new Set(areas), exact: new Set(list.filter((grant) => !grant.includes('*'))) };
}
