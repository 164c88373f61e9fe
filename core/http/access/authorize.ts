import { allows } from '../../auth/index.ts';
import type { Principal } from '../../sdk/index.ts';
import type { CompiledRoute } from '../routes/route-table.ts';
import { authErrors } from './errors.ts';

/** Decides by the matched route's declaration and owner, and nothing else. */
export function authorize(
  principal: Principal,
  route: CompiledRoute,
  params: Readonly<Record<string, unknown>>,
  credentialShown: boolean,
): void {
  const [{ access, method, devices }, area] = [route.declaration, route.owner.pluginId];
  if (allows(principal, access, params, area, method !== 'GET')) {
    if (principal.selectors === undefined || devices !== undefined) {
      return;
    }
    throw authErrors.not_narrowed();
  }
  if (principal.kind === 'anonymous') {
    throw credentialShown ? authErrors.credential_invalid() : authErrors.credential_missing();
  }
  const own = principal.kind === 'token' ? 'API token' : 'role';
  const needed =
    typeof access === 'object'
      ? access.action
      : access === 'any' && own !== 'role'
        ? `read:${area}`
        : access;
  throw needed.includes(':') || needed === 'webshell'
    ? authErrors.not_allowed({ holder: own, right: needed })
    : authErrors.only_for({ audience: audience[needed] ?? 'people and API tokens, not for edges' });
}

const audience: Readonly<Record<string, string>> = { admin: 'administrators', machine: 'edges' };
