import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

import { type Clock, type Ids, type Logger, messageOf, type Secrets } from 'svc/sdk';

import type { Store } from './rows/store.ts';
import type { KeyRow } from './rows/tables.ts';

/** Statement to be signed: its subject, then its facts. */
export type Statement = readonly (string | number)[];

export interface KeyParts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Opened {
  readonly chain: KeyObject;
  readonly signing: KeyObject;
  readonly public: KeyObject;
}

const table = 'audit_keys';

/** The keys of the trail: random and sealed, not derived from the master key, which may be replaced at any time. */
export class Keys {
  /** Number of the key that binds and signs from now on. */
  readonly newest: number;
  /** When the first key, and with it the trail, was made. */
  readonly since: number;
  readonly #opened: ReadonlyMap<number, Opened>;

  private constructor(newest: number, since: number, opened: ReadonlyMap<number, Opened>) {
    this.newest = newest;
    this.since = since;
    this.#opened = opened;
  }

  /**
   * Opens the keys, and creates one at the first start. If the newest cannot be opened because the
   * master key is lost, a new one continues from the last hash: auditing must not stop, and what
   * the old one signed shows as not verifiable.
   */
  static async open({ store, secrets, ids, clock, log }: KeyParts): Promise<Keys> {
    const opened = new Map<number, Opened>();
    let newest = 0;
    let since: number | undefined;
    for (const row of await store.keys()) {
      newest = row.id;
      since ??= row.created_at;
      try {
        opened.set(row.id, unsealed(row, secrets));
      } catch (error) {
        log.error(
          { event: 'audit.key_not_opened', key: row.id, cause: messageOf(error) },
          'audit key cannot be decrypted; entries signed with it cannot be verified',
        );
      }
    }
    if (!opened.has(newest)) {
      newest += 1;
      const row = sealed(newest, secrets, ids, clock);
      await store.addKey(row);
      since ??= row.created_at;
      opened.set(newest, unsealed(row, secrets));
      log.info({ key: newest }, 'created a new audit key');
    }
    return new Keys(newest, since!, opened);
  }

  /** Undefined when there is no such key, or it cannot be opened any more. */
  chain(id: number): KeyObject | undefined {
    return this.#opened.get(id)?.chain;
  }

  /** Signs with the newest key. */
  sign(statement: Statement): string {
    return sign(null, bytesOf(statement), this.#opened.get(this.newest)!.signing).toString(
      'base64url',
    );
  }

  isSigned(id: number, statement: Statement, signature: string): boolean {
    const key = this.#opened.get(id)?.public;
    return (
      key !== undefined &&
      verify(null, bytesOf(statement), key, Buffer.from(signature, 'base64url'))
    );
  }
}

function sealed(id: number, secrets: Secrets, ids: Ids, clock: Clock): KeyRow {
  const fresh = (column: string): string =>
    secrets.seal({ table, row: String(id), column }, ids.token(32));
  return {
    id,
    chain_key: fresh('chain_key'),
    signing_key: fresh('signing_key'),
    created_at: clock.now(),
  };
}

function unsealed(row: KeyRow, secrets: Secrets): Opened {
  const secret = (column: 'chain_key' | 'signing_key'): Buffer =>
    Buffer.from(secrets.open({ table, row: String(row.id), column }, row[column]), 'base64url');
  const signing = ed25519(secret('signing_key'));
  return { chain: createSecretKey(secret('chain_key')), signing, public: createPublicKey(signing) };
}

/** PKCS #8 around the 32 bytes that an Ed25519 key is made from. */
const ed25519 = (seed: Buffer): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });

const bytesOf = (statement: Statement): Buffer => Buffer.from(JSON.stringify(statement));
