import jwt from 'jsonwebtoken';
import type { Clock, Ids } from 'svc/sdk';

import type { Person } from '../iam/contract.ts';
import { accessTokenMs } from './lifetimes.ts';
import type { SigningKeys } from './signing-keys.ts';

/** What an access token says, in the order in which it says it. */
export interface Claims {
  readonly sub: string;
  readonly email: string;
  readonly role: string;
  readonly typ: 'access';
  readonly sid: string;
  readonly jti: string;
  /** Version of the account. */
  readonly ver: number;
  /** When the session began with a login, in seconds; refreshes keep it. */
  readonly auth_time: number;
  readonly iat: number;
  readonly exp: number;
  readonly iss: 'svc';
}

/** The short-lived proof that a person has signed in. */
export interface AccessTokens {
  /** `since` is when the session began with a login, in milliseconds. */
  mint(person: Person, sessionId: string, since: number): string;
  /** The claims of a token that is ours and has not expired; undefined for anything else. */
  read(token: string): Claims | undefined;
}

export const accessTokenSeconds = accessTokenMs / 1000;

const longest = 2_048;
/** A clock that was set back must not sign everybody out. */
const skewSeconds = 60;

export function createAccessTokens(keys: SigningKeys, clock: Clock, ids: Ids): AccessTokens {
  const seconds = (): number => Math.floor(clock.now() / 1000);
  return {
    mint(person, sid, since) {
      const { kid, key } = keys.newest;
      const iat = seconds();
      const who = { sub: String(person.id), email: person.email, role: person.role };
      const session = { sid, jti: ids.uuid(), ver: person.version, auth_time: Math.floor(since / 1000) };
      const claims: Claims = { ...who, typ: 'access', ...session, iat, exp: iat + accessTokenSeconds, iss: 'svc' };
      return jwt.sign(claims, key, { algorithm: 'HS256', keyid: kid });
    },
    read(token) {
      if (token.length > longest) {
        return undefined;
      }
      const [header = '', body = ''] = token.split('.', 2);
      const key = keys.ofHeader(header);
      const now = seconds();
      const claims = key && verified(() => jwt.verify(token, key, { algorithms: ['HS256'], issuer: 'svc', clockTimestamp: now }));
      return isOurs(claims, body, now) ? claims : undefined;
    },
  };
}

/** The library throws for whatever is wrong with a token; why does not matter, and must not be told. */
function verified(verify: () => unknown): unknown {
  try {
    return verify();
  } catch {
    return undefined;
  }
}

/** A good signature is not enough: it must be a token as `mint` writes them, of this kind, for this long. */
function isOurs(claims: unknown, body: string, now: number): claims is Claims {
  if (typeof claims !== 'object' || claims === null || Buffer.from(body, 'base64url').toString() !== JSON.stringify(claims)) {
    return false;
  }
  const { sub, email, role, typ, sid, jti, ver, auth_time: since, iat, exp } = claims as Record<keyof Claims, unknown>;
  return (
    typ === 'access' &&
    typeof sub === 'string' &&
    /^[1-9]\d{0,14}$/.test(sub) &&
    [email, role, sid, jti].every((text) => typeof text === 'string' && text !== '') &&
    [ver, since, iat, exp].every(Number.isSafeInteger) &&
    (since as number) <= now + skewSeconds &&
    (iat as number) <= now + skewSeconds &&
    (exp as number) > Math.max(now, iat as number) &&
    (exp as number) - (iat as number) <= accessTokenSeconds
  );
}
