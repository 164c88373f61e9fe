import jwt from 'jsonwebtoken';
import type { Person } from 'svc/contracts/iam';
import type { Clock, Ids } from 'svc/sdk';

import { accessTokenMs } from '../store/lifetimes.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Claims of an access token, in their order. */
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

export const accessTokenSeconds = accessTokenMs / 1000;

const longest = 2_048;
/** A clock that was set back must not sign every session out. */
const skewSeconds = 60;

/** The short-lived proof that a person has signed in. */
export class AccessTokens {
  readonly #keys: SigningKeys;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(keys: SigningKeys, clock: Clock, ids: Ids) {
    this.#keys = keys;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** `since` is when the session began with a login, in milliseconds. */
  mint(person: Person, sid: string, since: number): string {
    const { kid, key } = this.#keys.newest;
    const iat = this.#seconds();
    const who = { sub: String(person.id), email: person.email, role: person.role };
    const session = {
      sid,
      jti: this.#ids.uuid(),
      ver: person.version,
      auth_time: Math.floor(since / 1000),
    };
    const claims: Claims = {
      ...who,
      typ: 'access',
      ...session,
      iat,
      exp: iat + accessTokenSeconds,
      iss: 'svc',
    };
    return jwt.sign(claims, key, { algorithm: 'HS256', keyid: kid });
  }

  /** The claims of a token that is ours and has not expired; undefined for anything else. */
  read(token: string): Claims | undefined {
    if (token.length > longest) {
      return undefined;
    }
    const [header = '', body = ''] = token.split('.', 2);
    const key = this.#keys.ofHeader(header);
    const now = this.#seconds();
    const claims =
      key &&
      verified(() =>
        jwt.verify(token, key, { algorithms: ['HS256'], issuer: 'svc', clockTimestamp: now }),
      );
    return isOurs(claims, body, now) ? claims : undefined;
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

/**
 * Returns undefined for any invalid token, for which the library throws; the reason is irrelevant,
 * and must not be revealed.
 */
function verified(verify: () => unknown): unknown {
  try {
    return verify();
  } catch {
    return undefined;
  }
}

/** A good signature is not enough: it must be a token as `mint` writes them, of this kind, for this long. */
function isOurs(claims: unknown, body: string, now: number): claims is Claims {
  if (
    typeof claims !== 'object' ||
    claims === null ||
    Buffer.from(body, 'base64url').toString() !== JSON.stringify(claims)
  ) {
    return false;
  }
  const {
    sub,
    email,
    role,
    typ,
    sid,
    jti,
    ver,
    auth_time: since,
    iat,
    exp,
  } = claims as Record<keyof Claims, unknown>;
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
