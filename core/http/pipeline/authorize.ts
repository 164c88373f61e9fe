import { allows } from '../../auth/index.ts';
import { type Access, type Principal, SvcError } from '../../sdk/index.ts';

/** Decides by the matched route's declaration and nothing else. */
export function authorize(principal: Principal, access: Access, params: Readonly<Record<string, unknown>>, credentialShown: boolean): void {
  if (allows(principal, access, params)) {
    return;
  }
  if (principal.kind === 'anonymous') {
    throw new SvcError(
      'unauthorized',
      credentialShown ? 'the credential is not valid or has expired; sign in again' : 'sign in first: this needs an Authorization header',
      { reason: credentialShown ? 'auth.credential_invalid' : 'auth.credential_missing' },
    );
  }
  const needed = typeof access === 'object' ? access.action : access;
  const own = principal.kind === 'token' ? 'API token' : 'role';
  throw new SvcError(
    'forbidden',
    needed.includes(':') || needed === 'webshell' ? `your ${own} does not hold ${needed}` : `this is only for ${audience[needed] ?? needed}`,
    { reason: 'auth.not_allowed' },
  );
}

const audience: Readonly<Record<string, string>> = { admin: 'administrators', machine: 'edges', any: 'people and API tokens, not for edges' };
