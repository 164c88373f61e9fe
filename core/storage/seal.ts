import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import type { SealPlace, Secrets } from '../sdk/index.ts';
import { errors } from './errors.ts';
import type { KeyRing } from './keys.ts';

const purpose = 'seal v1';

/** Returns the key that sealed `text`; undefined if it is not sealed. */
export const keyOf = (text: string): string | undefined => /^v1\.([0-9a-f]{8})\./.exec(text)?.[1];

/** Secrets of one plugin: `v1.{key id}.{nonce}.{ciphertext}.{tag}`, each bound to its row. */
export class Seals implements Secrets {
  readonly #pluginId: string;
  readonly #ring: KeyRing;

  constructor(pluginId: string, ring: KeyRing) {
    this.#pluginId = pluginId;
    this.#ring = ring;
  }

  seal(place: SealPlace, plain: string): string {
    const kid = this.#ring.newest;
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#ring.derive(purpose, kid), nonce).setAAD(
      this.#bond(place, kid),
    );
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return [
      'v1',
      kid,
      ...[nonce, sealed, cipher.getAuthTag()].map((part) => part.toString('base64url')),
    ].join('.');
  }

  open(place: SealPlace, text: string): string {
    const where = `the secret in ${place.table}.${place.column} of row ${place.row}`;
    const [version, kid, nonce, sealed, tag, ...rest] = text.split('.');
    if (
      version !== 'v1' ||
      kid === undefined ||
      nonce === undefined ||
      sealed === undefined ||
      tag === undefined ||
      rest.length > 0
    ) {
      throw errors.seal_unknown({ where });
    }
    if (!this.#ring.has(kid)) {
      const remedy = 'put that key back, or enter the secret again';
      throw errors.seal_key_missing({ where, key: kid, remedy });
    }
    try {
      const decipher = createDecipheriv(
        'aes-256-gcm',
        this.#ring.derive(purpose, kid),
        Buffer.from(nonce, 'base64url'),
        { authTagLength: 16 },
      )
        .setAAD(this.#bond(place, kid))
        .setAuthTag(Buffer.from(tag, 'base64url'));
      return decipher.update(sealed, 'base64url', 'utf8') + decipher.final('utf8');
    } catch (cause) {
      throw errors.seal_broken({ where }, { cause });
    }
  }

  /**
   * Binds a value to its place as JSON, because joined text could make two places look the same.
   */
  #bond({ table, row, column }: SealPlace, kid: string): Buffer {
    return Buffer.from(JSON.stringify([this.#pluginId, table, row, column, kid]));
  }
}
