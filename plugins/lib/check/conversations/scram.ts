import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** A server that asks for more work than this is not one that a check logs in to. */
const maxIterations = 100_000;

/** Login by SCRAM-SHA-256, in which both sides prove that they know the password. */
export class Scram {
  /** First message of the client. */
  readonly first: string;
  readonly #password: string;
  readonly #nonce: string;
  #signature: Buffer | undefined;

  constructor(password: string, nonce: string) {
    this.#password = password;
    this.#nonce = nonce;
    this.first = `n,,n=,r=${nonce}`;
  }

  /** Returns the answer to the server's first message. */
  async answer(theirs: string): Promise<string> {
    const { r: nonce = '', s: salt = '', i = '' } = fieldsOf(theirs);
    const iterations = /^\d{1,7}$/.test(i) ? Number(i) : 0;
    if (!nonce.startsWith(this.#nonce) || iterations < 1 || iterations > maxIterations) {
      throw new Error('the server does not log in as SCRAM-SHA-256 says');
    }
    const salted = await promisify(pbkdf2)(
      this.#password,
      Buffer.from(salt, 'base64'),
      iterations,
      32,
      'sha256',
    );
    const bare = `c=biws,r=${nonce}`;
    const whole = `${this.first.slice(3)},${theirs},${bare}`;
    const key = hmac(salted, 'Client Key');
    const proof = hmac(createHash('sha256').update(key).digest(), whole);
    this.#signature = hmac(hmac(salted, 'Server Key'), whole);
    return `${bare},p=${Buffer.from(key.map((byte, at) => byte ^ proof[at]!)).toString('base64')}`;
  }

  /** Throws unless the server's last message proves that it knows the password as well. */
  verify(theirs: string): void {
    const given = Buffer.from(fieldsOf(theirs)['v'] ?? '', 'base64');
    const expected = this.#signature;
    if (given.length !== expected?.length || !timingSafeEqual(given, expected)) {
      throw new Error('the server does not prove that it knows the password');
    }
  }
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const fieldsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
