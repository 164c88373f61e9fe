import {
  createHmac,
  createSecretKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';

import { KeyRing } from '../../../core/storage/keys.ts';
import { Seals } from '../../../core/storage/seal.ts';
import { storedIn } from '../../kit/stored.ts';

export interface RealKey {
  readonly kid: string;
  readonly key: KeyObject;
}

/** Returns svc's signing key, taken like a burglar with the whole disk would. */
export function stealKey(dataDir: string): RealKey {
  const database = storedIn(dataDir, { readonly: true });
  const { kid, sealed } = database
    .prepare('select kid, sealed from session_keys order by created_at desc')
    .get() as { kid: string; sealed: string };
  database.close();
  const secret = new Seals('session', new KeyRing(dataDir)).open(
    { table: 'session_keys', row: kid, column: 'sealed' },
    sealed,
  );
  return { kid, key: createSecretKey(Buffer.from(secret, 'base64url')) };
}

const encode = (text: string): string => Buffer.from(text).toString('base64url');
const sign = (input: string, key: KeyObject, hash = 'sha256'): string =>
  createHmac(hash, key).update(input).digest('base64url');

/** A token of any two texts, with a signature that is right for its algorithm. */
export const signed = (header: string, body: string, key: KeyObject, hash?: string): string => {
  const input = `${encode(header)}.${encode(body)}`;
  return `${input}.${sign(input, key, hash)}`;
};

/** A good token as it would be without an error in it: `header`, then `claims`, then the real signature. */
export const mint = ({ kid, key }: RealKey, claims: object, header: object = {}): string =>
  signed(JSON.stringify({ alg: 'HS256', typ: 'JWT', kid, ...header }), JSON.stringify(claims), key);

/** Tokens that an attacker, or a client that confuses its tokens, would show; `real` is one that is good. */
export function forgedTokens(
  real: string,
  stolen: RealKey,
  claims: Record<string, unknown>,
  others: Readonly<Record<string, string>>,
): Record<string, string> {
  const { kid, key } = stolen;
  const [head = '', body = '', signature = ''] = real.split('.');
  const header = { alg: 'HS256', typ: 'JWT', kid };
  const attacker = createSecretKey(Buffer.alloc(32, 7));
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = publicKey.export({ format: 'jwk' });
  const now = claims['iat'] as number;
  const text = JSON.stringify(claims);
  const withClaims = (changes: object): string => mint(stolen, { ...claims, ...changes });
  const without = (claim: string): string =>
    mint(stolen, Object.fromEntries(Object.entries(claims).filter(([name]) => name !== claim)));
  const withHeader = (changes: object, hash?: string): string =>
    signed(JSON.stringify({ ...header, ...changes }), text, key, hash);
  const unsigned = (alg: string): string =>
    `${encode(JSON.stringify({ ...header, alg }))}.${body}.`;
  const rs256 = (): string => {
    const input = `${encode(JSON.stringify({ ...header, alg: 'RS256' }))}.${body}`;
    return `${input}.${createSign('sha256').update(input).sign(privateKey, 'base64url')}`;
  };

  return {
    // No signature, or none that counts.
    'alg none': unsigned('none'),
    'alg None': unsigned('None'),
    'alg nOnE': unsigned('nOnE'),
    'alg NONE with a signature': `${unsigned('NONE')}${signature}`,
    'alg none, only two parts': unsigned('none').slice(0, -1),
    'alg none beside our header': `${head}.${body}`,
    'empty signature': `${head}.${body}.`,
    'signature of blanks': `${head}.${body}.   x`,
    'signature cut short': real.slice(0, -1),
    'signature one longer': `${real}A`,
    'last character of the signature changed, bits that do not count': `${real.slice(0, -1)}${otherTail(real.at(-1)!)}`,
    'signature of another token': `${head}.${encode(JSON.stringify({ ...claims, sub: '1' }))}.${signature}`,
    'padded signature': `${real}=`,
    'four parts': `${real}.${signature}`,
    'body changed by one byte': `${head}.${body.slice(0, 10)}${body[10] === 'A' ? 'B' : 'A'}${body.slice(11)}.${signature}`,
    'body in plain text': `${head}.${text}.${signature}`,
    // Another algorithm, or another key.
    'HS512 with the real key': withHeader({ alg: 'HS512' }, 'sha512'),
    'HS384 with the real key': withHeader({ alg: 'HS384' }, 'sha384'),
    'hs256 in small letters': withHeader({ alg: 'hs256' }),
    'RS256 said, HMAC made with the real key': withHeader({ alg: 'RS256' }),
    'RS256 by a key of the attacker': rs256(),
    'HS256 with the public key as the secret': signed(
      JSON.stringify(header),
      text,
      createSecretKey(Buffer.from(publicKey.export({ format: 'pem', type: 'spki' }))),
    ),
    'HS256 with a key of the attacker': signed(JSON.stringify(header), text, attacker),
    'HS256 with an empty key': signed(
      JSON.stringify(header),
      text,
      createSecretKey(Buffer.alloc(0)),
    ),
    'no algorithm': signed(JSON.stringify({ typ: 'JWT', kid }), text, key),
    'a list of algorithms': withHeader({ alg: ['HS256', 'none'] }),
    // What a header may carry beside that.
    'unknown kid': withHeader({ kid: 'x' }),
    'kid that walks to a file': withHeader({ kid: '../../../../dev/null' }),
    'kid that asks the database': withHeader({ kid: "x' union select 'a" }),
    'no kid': signed(JSON.stringify({ alg: 'HS256', typ: 'JWT' }), text, key),
    'kid as a list': withHeader({ kid: [kid] }),
    'kid of a prototype': withHeader({ kid: '__proto__' }),
    jku: withHeader({ jku: 'https://attacker.example/keys' }),
    x5u: withHeader({ x5u: 'https://attacker.example/cert' }),
    'jwk, signed by it': signed(JSON.stringify({ ...header, jwk }), text, attacker),
    'jwk beside the real key': withHeader({ jwk }),
    x5c: withHeader({ x5c: ['MII'] }),
    crit: withHeader({ crit: ['exp'], exp: 1 }),
    'b64 false': withHeader({ b64: false, crit: ['b64'] }),
    'another type of token': withHeader({ typ: 'at+jwt' }),
    'the same header in another order': signed(
      JSON.stringify({ kid, typ: 'JWT', alg: 'HS256' }),
      text,
      key,
    ),
    'the same header with a blank in it': signed(
      JSON.stringify(header).replace('{', '{ '),
      text,
      key,
    ),
    'algorithm twice in the header': signed(
      JSON.stringify(header).replace('{', '{"alg":"none",'),
      text,
      key,
    ),
    'header and body swapped': `${body}.${head}.${signature}`,
    'header of unicode': signed(JSON.stringify({ ...header, alg: 'ＨＳ２５６' }), text, key),
    // Claims that the real key has signed all the same.
    'exp as text': withClaims({ exp: String(now + 600) }),
    'exp with a fraction': withClaims({ exp: now + 600.5 }),
    'exp below zero': withClaims({ exp: -1 }),
    'exp missing': without('exp'),
    'exp null': withClaims({ exp: null }),
    'exp in the past': withClaims({ iat: now - 1_000, exp: now - 100 }),
    'exp in a year': withClaims({ exp: now + 365 * 86_400 }),
    'exp beyond numbers': mint(stolen, claims).replace(
      /^([^.]+)\.[^.]+\..*/,
      (_all, first: string) => resigned(first, text.replace(/"exp":\d+/, '"exp":1e400'), key),
    ),
    'exp before iat': withClaims({ iat: now + 30, exp: now + 20 }),
    'iat in an hour': withClaims({ iat: now + 3_600, exp: now + 4_000 }),
    'iat missing': without('iat'),
    'iat as text': withClaims({ iat: String(now) }),
    'nbf in an hour': withClaims({ nbf: now + 3_600 }),
    'nbf as text': withClaims({ nbf: 'soon' }),
    'typ refresh': withClaims({ typ: 'refresh' }),
    'typ missing': without('typ'),
    'another issuer': withClaims({ iss: 'grafana' }),
    'issuer as a list': withClaims({ iss: ['svc'] }),
    'issuer missing': without('iss'),
    'sub as a number': withClaims({ sub: 2 }),
    'sub missing': without('sub'),
    'sub of nobody': withClaims({ sub: '999' }),
    'sub as 2.0': withClaims({ sub: '2.0' }),
    'sub as 0x2': withClaims({ sub: '0x2' }),
    'sub with a blank': withClaims({ sub: ' 2' }),
    'sub in other digits': withClaims({ sub: '２' }),
    'another version of the account': withClaims({ ver: (claims['ver'] as number) + 1 }),
    'version as text': withClaims({ ver: String(claims['ver']) }),
    'version missing': without('ver'),
    'login in an hour': withClaims({ auth_time: now + 3_600 }),
    'login as text': withClaims({ auth_time: String(claims['auth_time']) }),
    'login missing': without('auth_time'),
    'no session': without('sid'),
    'sub twice': signed(JSON.stringify(header), text.replace('{', '{"sub":"1",'), key),
    'exp twice': signed(JSON.stringify(header), text.replace('}', `,"exp":${now + 800}}`), key),
    'body with a blank': signed(JSON.stringify(header), text.replace('{', '{ '), key),
    'body as a list': signed(JSON.stringify(header), `[${text}]`, key),
    'body as text': signed(JSON.stringify(header), JSON.stringify(text), key),
    'body null': signed(JSON.stringify(header), 'null', key),
    'body that is no JSON': signed(JSON.stringify(header), 'hello', key),
    'body empty': signed(JSON.stringify(header), '', key),
    // Not tokens of this kind, or of any.
    ...others,
    'three dots': '...',
    unicode: encodeURIComponent('トークン.トークン.トークン'),
    'a word': 'null',
    'seven thousand characters': `${head}.${'A'.repeat(7_000)}.${signature}`,
  };
}

const resigned = (header: string, body: string, key: KeyObject): string => {
  const input = `${header}.${encode(body)}`;
  return `${input}.${sign(input, key)}`;
};

/** 32 bytes in base64url end with two bits that mean nothing; this is a character that differs in them only. */
function otherTail(char: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(char) ^ 1]!;
}
