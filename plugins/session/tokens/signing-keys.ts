import { createSecretKey, type KeyObject } from 'node:crypto';

import { type Clock, type Ids, type Logger, messageOf, type Secrets } from 'svc/sdk';

import { accessTokenMs, signingKeyMs } from '../store/lifetimes.ts';
import type { Store } from '../store/store.ts';

export interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
  readonly createdAt: number;
}

export interface KeyParts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
}

const slackMs = 60_000;

/** The keys that access tokens are signed with: the newest signs, older ones verify until their last token has expired. */
export class SigningKeys {
  readonly #parts: KeyParts;
  #newest!: SigningKey;
  #byHeader = new Map<string, KeyObject>();

  private constructor(parts: KeyParts) {
    this.#parts = parts;
  }

  static async open(parts: KeyParts): Promise<SigningKeys> {
    const keys = new SigningKeys(parts);
    await keys.rotate();
    return keys;
  }

  get newest(): SigningKey {
    return this.#newest;
  }

  /** The key whose tokens begin with exactly this first part. */
  ofHeader(header: string): KeyObject | undefined {
    return this.#byHeader.get(header);
  }

  /** Creates a new key if the newest is old, and deletes those whose tokens have all expired. */
  async rotate(): Promise<void> {
    const { store, secrets, clock, ids } = this.#parts;
    const now = clock.now();
    const kept = await readKeys(this.#parts);
    const youngest = kept.at(-1);
    if (youngest === undefined || youngest.createdAt <= now - signingKeyMs) {
      const [kid, secret] = [ids.token(9), ids.token(32)];
      await store.write((rows) => rows.signingKeys.add(kid, secrets.seal(place(kid), secret), now));
      kept.push({ kid, key: keyOf(secret), createdAt: now });
    }
    const spent = kept.filter(
      (_key, index) => (kept[index + 1]?.createdAt ?? now) < now - accessTokenMs - slackMs,
    );
    if (spent.length > 0) {
      await store.write((rows) => rows.signingKeys.remove(spent.map(({ kid }) => kid)));
    }
    this.#newest = kept.at(-1)!;
    this.#byHeader = new Map(
      kept.filter((key) => !spent.includes(key)).map(({ kid, key }) => [headerOf(kid), key]),
    );
  }
}

/** Oldest first. A key that does not open any more costs its sessions an early refresh, not svc its logins. */
async function readKeys({ store, secrets, log }: KeyParts): Promise<SigningKey[]> {
  return (await store.read.signingKeys.list()).flatMap(({ kid, sealed, created_at: createdAt }) => {
    try {
      return [{ kid, key: keyOf(secrets.open(place(kid), sealed)), createdAt }];
    } catch (error) {
      log.warn(
        { event: 'session.key_not_opened', kid, cause: messageOf(error) },
        'signing key cannot be decrypted; access tokens signed with it are refused',
      );
      return [];
    }
  });
}

const place = (kid: string) => ({ table: 'session_keys', row: kid, column: 'sealed' });

const keyOf = (secret: string): KeyObject => createSecretKey(Buffer.from(secret, 'base64url'));

/**
 * The first part of every token of a key, to the byte. Nothing else is accepted there, so what an attacker would
 * write into it — another algorithm, a key of their own, an address of one — is never looked at.
 */
const headerOf = (kid: string): string =>
  Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT', kid })).toString('base64url');
