import type { DirectoryContract } from 'svc/contracts/iam';
import type { AuthenticatorContract, Clock, Credential, MaybePromise, Principal } from 'svc/sdk';

import type { AccessTokens, Claims } from './tokens/access-tokens.ts';
import { apiTokenPrefix, type ApiTokens } from './tokens/api-tokens.ts';
import { userPrincipal } from './tokens/principals.ts';
import type { Revocations } from './tokens/revocations.ts';
import type { Uses } from './tokens/uses.ts';
import type { Vouched } from './tokens/vouched.ts';

export interface AuthenticatorParts {
  readonly accessTokens: AccessTokens;
  readonly apiTokens: ApiTokens;
  readonly vouched: Vouched;
  readonly directory: DirectoryContract;
  readonly revocations: Revocations;
  readonly uses: Uses;
  readonly clock: Clock;
}

const mostRemembered = 10_000;

/** Knows people by their access tokens, programs by their API tokens and edges by their keys. Only a signature is remembered: the rest is asked each time. */
export class SessionAuthenticator implements AuthenticatorContract {
  readonly #parts: AuthenticatorParts;
  readonly #verified = new Map<string, Claims>();

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  authenticate({ scheme, value, ip, path = '' }: Credential): MaybePromise<Principal | undefined> {
    const { vouched, apiTokens } = this.#parts;
    // A ticket is good for nothing but the plugin that issued it, which knows its bearer.
    if (scheme === 'ticket') {
      return vouched.ticket(value, { ip, path });
    }
    if (vouched.isEdgeKey(value)) {
      return vouched.edge(value);
    }
    // Programs that know only Basic show an API token as the password of any user; a session is not for them.
    const token = scheme === 'basic' ? value.slice(value.indexOf(':') + 1) : value;
    return token.startsWith(apiTokenPrefix)
      ? apiTokens.recognise(token)
      : scheme === 'bearer'
        ? this.#user(token)
        : undefined;
  }

  #user(token: string): Principal | undefined {
    const { revocations, clock, directory, uses } = this.#parts;
    const claims = this.#verified.get(token) ?? this.#verify(token);
    if (claims === undefined || revocations.has(claims.sid)) {
      return undefined;
    }
    if (claims.exp * 1000 <= clock.now()) {
      this.#verified.delete(token);
      return undefined;
    }
    const person = directory.live(Number(claims.sub));
    if (person?.status !== 'active' || person.version !== claims.ver) {
      return undefined;
    }
    uses.session(claims.sid);
    return userPrincipal(person, claims.sid, claims.auth_time * 1000);
  }

  #verify(token: string): Claims | undefined {
    const claims = this.#parts.accessTokens.read(token);
    if (claims) {
      if (this.#verified.size >= mostRemembered) {
        this.#verified.delete(this.#verified.keys().next().value!);
      }
      this.#verified.set(token, claims);
    }
    return claims;
  }
}
