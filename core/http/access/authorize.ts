import { allows, readsAll } from '../../auth/index.ts';
import { mayRead, type Principal } from '../../sdk/index.ts';
import type { CompiledRoute } from '../routes/route-table.ts';
import { authErrors } from './errors.ts';

/** Decides by the matched route's declaration and owner, and nothing else. */
export function authorize(
  principal: Principal,
  route: CompiledRoute,
  params: Readonly<Record<string, unknown>>,
  credentialShown: boolean,
): void {
  const { access, devices } = route.declaration;
  if (mayCall(principal, route, params)) {
    if (principal.selectors === undefined || devices !== undefined) {
      return;
    }
    throw authErrors.not_narrowed();
  }
  if (principal.kind === 'anonymous') {
    throw credentialShown ? authErrors.credential_invalid() : authErrors.credential_missing();
  }
  const own = principal.kind === 'token' ? 'API token' : 'role';
  const needed = allows(principal, access, params)
    ? `read:${route.reads.find((area) => !mayRead(principal, area))}`
    : typeof access === 'object'
      ? access.action
      : access;
  throw needed.includes(':') || needed === 'webshell'
    ? authErrors.not_allowed({ holder: own, right: needed })
    : authErrors.only_for({ audience: audience[needed] ?? 'people and API tokens, not for edges' });
}

/** Returns whether a principal may call the route, for its whole answer or at least a brief one. */
export const mayCall = (
  principal: Principal,
  { declaration: { access, brief }, reads }: CompiledRoute,
  params: Readonly<Record<string, unknown>>,
): boolean =>
  allows(principal, access, params) && (brief !== undefined || readsAll(principal, reads));

/** Refuses an API token that may not read the area. */
export function requireRead(principal: Principal, area: string): void {
  if (!mayRead(principal, area)) {
    throw authErrors.not_allowed({ holder: 'API token', right: `read:${area}` });
  }
}

const audience: Readonly<Record<string, string>> = { admin: 'administrators', machine: 'edges' };
