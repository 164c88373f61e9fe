import { createHash } from 'node:crypto';

import { type Clock, type Ids, timestamp } from '../../../core/sdk/index.ts';
import { errors } from './errors.ts';

const validMs = 60 * 60_000;
const maxTokens = 32;
const prefix = 'svc_node_';

/** Contents of a token, for the machine that joins. */
export interface Invitation {
  /** Address of the node that issued it. */
  readonly wire: string;
  readonly id: string;
  readonly secret: string;
}

/** Key of the connection on which a token is redeemed: both sides prove by it that they know the secret. */
export const joinKey = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Reads a token that a person has copied. */
export function invitationIn(token: string): Invitation {
  try {
    const text = Buffer.from(token.trim().slice(prefix.length), 'base64url').toString('utf8');
    const [wire, id, secret] = JSON.parse(text) as unknown[];
    if (
      token.trim().startsWith(prefix) &&
      typeof wire === 'string' &&
      typeof id === 'string' &&
      typeof secret === 'string'
    ) {
      return { wire, id, secret };
    }
  } catch {
    // Told below, as for any other text.
  }
  throw errors.token_form();
}

/** Tokens by which another machine becomes a node, each for one use within an hour. They are known to the process that issued them alone. */
export class JoinTokens {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #tokens = new Map<
    string,
    { readonly key: Buffer; readonly until: number; isUsed: boolean }
  >();

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  issue(wire: string): { readonly token: string; readonly expires_at: string } {
    if (this.#tokens.size >= maxTokens) {
      this.#tokens.delete(this.#tokens.keys().next().value!);
    }
    const [id, secret] = [this.#ids.token(9), this.#ids.token(32)];
    const until = this.#clock.monotonic() + validMs;
    this.#tokens.set(id, { key: joinKey(secret), until, isUsed: false });
    const text = Buffer.from(JSON.stringify([wire, id, secret])).toString('base64url');
    return { token: prefix + text, expires_at: timestamp(this.#clock.now() + validMs) };
  }

  keyOf(id: string): Buffer | null {
    return this.#tokens.get(id)?.key ?? null;
  }

  /** Uses a token up; says why it is of no use otherwise. */
  redeem(id: string): 'good' | 'used' | 'expired' {
    const token = this.#tokens.get(id);
    if (token === undefined || this.#clock.monotonic() > token.until) {
      return 'expired';
    }
    if (token.isUsed) {
      return 'used';
    }
    token.isUsed = true;
    return 'good';
  }
}
