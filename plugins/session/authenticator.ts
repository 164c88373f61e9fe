import type { AuthenticatorContract, Clock, Handle, Principal } from 'svc/sdk';

import type { DirectoryContract } from '../iam/contract.ts';
import type { TicketDesk as TicketDeskContract } from '../webshell/contract.ts';
import type { AccessTokens, Claims } from './access-tokens.ts';
import { apiTokenPrefix, type ApiTokens } from './api-tokens.ts';
import type { Edges } from './edges.ts';
import { userPrincipal } from './principals.ts';
import type { Revocations } from './revocations.ts';
import type { Uses } from './uses.ts';

export interface AuthenticatorParts {
  readonly accessTokens: AccessTokens;
  readonly apiTokens: ApiTokens;
  readonly edges: Edges;
  readonly tickets: Handle<TicketDeskContract>;
  readonly directory: DirectoryContract;
  readonly revocations: Revocations;
  readonly uses: Uses;
  readonly clock: Clock;
}

const mostRemembered = 10_000;

/** Knows people by their access tokens, programs by their API tokens and edges by their keys. Only a signature is remembered: the rest is asked each time. */
export function createAuthenticator({
  accessTokens,
  apiTokens,
  edges,
  tickets,
  directory,
  revocations,
  uses,
  clock,
}: AuthenticatorParts): AuthenticatorContract {
  const verified = new Map<string, Claims>();

  function verify(token: string): Claims | undefined {
    const claims = accessTokens.read(token);
    if (claims) {
      if (verified.size >= mostRemembered) {
        verified.delete(verified.keys().next().value!);
      }
      verified.set(token, claims);
    }
    return claims;
  }

  function user(token: string): Principal | undefined {
    const claims = verified.get(token) ?? verify(token);
    if (claims === undefined || revocations.has(claims.sid)) {
      return undefined;
    }
    if (claims.exp * 1000 <= clock.now()) {
      verified.delete(token);
      return undefined;
    }
    const person = directory.live(Number(claims.sub));
    if (person?.status !== 'active' || person.version !== claims.ver) {
      return undefined;
    }
    uses.session(claims.sid);
    return userPrincipal(person, claims.sid, claims.auth_time * 1000);
  }

  return {
    authenticate({ scheme, value, ip }) {
      // Whoever issued a ticket knows whom it stands for.
      if (scheme === 'ticket') {
        return tickets.available ? tickets.get().recognise(value, ip) : undefined;
      }
      if (edges.shows(value)) {
        return edges.recognise(value);
      }
      // Programs that know only Basic show an API token as the password of any user; a session is not for them.
      const token = scheme === 'basic' ? value.slice(value.indexOf(':') + 1) : value;
      return token.startsWith(apiTokenPrefix) ? apiTokens.recognise(token) : scheme === 'bearer' ? user(token) : undefined;
    },
  };
}
