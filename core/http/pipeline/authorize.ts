import { allows } from '../../auth/index.ts';
import { type Principal, SvcError } from '../../sdk/index.ts';
import type { CompiledRoute } from '../routes/route-table.ts';

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
    throw new SvcError(
      'forbidden',
      'this cannot be narrowed to the devices of your organization; ask an administrator',
      { reason: 'auth.not_narrowed' },
    );
  }
  if (principal.kind === 'anonymous') {
    throw new SvcError(
      'unauthorized',
      credentialShown
        ? 'the credential is not valid or has expired; sign in again'
        : 'sign in first: this needs an Authorization header',
      { reason: credentialShown ? 'auth.credential_invalid' : 'auth.credential_missing' },
    );
  }
  const own = principal.kind === 'token' ? 'API token' : 'role';
  const needed =
    typeof access === 'object'
      ? access.action
      : access === 'any' && own !== 'role'
        ? `read:${area}`
        : access;
  throw new SvcError(
    'forbidden',
    needed.includes(':') || needed === 'webshell'
      ? `your ${own} does not hold ${needed}`
      : `this is only for ${audience[needed] ?? 'people and API tokens, not for edges'}`,
    { reason: 'auth.not_allowed' },
  );
}

const audience: Readonly<Record<string, string>> = { admin: 'administrators', machine: 'edges' };
