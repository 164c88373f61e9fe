import { scrypt, timingSafeEqual } from 'node:crypto';

import { ConcurrencyGate } from 'svc/flow';
import type { Ids } from 'svc/sdk';

import { errors } from './errors.ts';
import { isTooLong } from './password-rules.ts';

/** The work factors of scrypt: 2^ln · r · 128 bytes of memory, p times over. */
export interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB and a third of a second on a small box: as much as 22 logins at once may cost here. */
export const currentCost: Cost = { ln: 15, r: 8, p: 3 };

const keyBytes = 32;
const saltBytes = 16;
const phc =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,86})\$([A-Za-z0-9+/]{43})$/;

/** Hashes passwords off the main thread, two at once so that logins cannot take the machine from all other work. */
export class Hasher {
  readonly #ids: Ids;
  readonly #cost: Cost;
  readonly #gate = new ConcurrencyGate({
    atOnce: 2,
    waiting: 20,
    full: () => errors.hasher_busy({ retryAfterSeconds: 3 }),
  });
  /** Hash used for an account that does not exist. */
  readonly #decoy: Hashed;

  constructor(ids: Ids, cost: Cost = currentCost) {
    this.#ids = ids;
    this.#cost = cost;
    this.#decoy = {
      cost,
      salt: this.#newSalt(),
      key: Buffer.from(ids.token(keyBytes), 'base64url'),
    };
  }

  /** `$scrypt$ln=15,r=8,p=3$<salt>$<key>`. */
  async hash(password: string): Promise<string> {
    const salt = this.#newSalt();
    const { ln, r, p } = this.#cost;
    const key = await this.#gate.run(() => derive(password, salt, this.#cost));
    return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(key)}`;
  }

  /**
   * Returns whether `hash` was made from `password`. Without a hash it returns false, at the same
   * cost.
   */
  async verify(hash: string | undefined, password: string): Promise<boolean> {
    const known = hash === undefined ? undefined : parse(hash);
    const { cost, salt, key } = known ?? this.#decoy;
    const derived = await this.#gate.run(() =>
      derive(isTooLong(password) ? '' : password, salt, cost),
    );
    return timingSafeEqual(derived, key) && known !== undefined && !isTooLong(password);
  }

  /** Returns whether a hash was made with lower cost than today's. */
  isDated(hash: string): boolean {
    const made = parse(hash)?.cost;
    return (
      made !== undefined &&
      (made.ln < this.#cost.ln || made.r < this.#cost.r || made.p < this.#cost.p)
    );
  }

  #newSalt(): Buffer {
    return Buffer.from(this.#ids.token(saltBytes), 'base64url');
  }
}

interface Hashed {
  readonly cost: Cost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

function parse(hash: string): Hashed | undefined {
  const [, ln, r, p, salt, key] = phc.exec(hash) ?? [];
  return salt === undefined || key === undefined
    ? undefined
    : {
        cost: { ln: Number(ln), r: Number(r), p: Number(p) },
        salt: Buffer.from(salt, 'base64'),
        key: Buffer.from(key, 'base64'),
      };
}

/** One password has several encodings on different keyboards; they must give one key. */
const derive = (password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const N = 2 ** ln;
    scrypt(
      password.normalize('NFKC'),
      salt,
      keyBytes,
      { N, r, p, maxmem: 256 * N * r },
      (error, key) => (error ? reject(error) : resolve(key)),
    );
  });

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
