import { createHash, createHmac } from 'node:crypto';

/** Request to be signed. */
export interface Signed {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Keys of an AWS account, and where they are used. */
export interface Signer {
  readonly accessKey: string;
  readonly secret: string;
  /** Token of temporary keys; empty if they are not. */
  readonly token: string;
  readonly region: string;
  readonly service: string;
}

/** Returns the headers that sign a request as AWS wants it (Signature Version 4). */
export function signature(
  { method, url, body, at }: Signed,
  { accessKey, secret, token, region, service }: Signer,
): Readonly<Record<string, string>> {
  const { host, pathname, searchParams } = new URL(url);
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const headers = {
    host,
    'x-amz-date': time,
    ...(token !== '' && { 'x-amz-security-token': token }),
  };
  const names = Object.keys(headers).join(';');
  const query = [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const canonical = [
    method,
    // Escaped once more: it is escaped in the URL already.
    pathname.split('/').map(encoded).join('/'),
    query.join('&'),
    ...Object.entries(headers).map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
    (last, part) => hmac(last, part),
    Buffer.from(`AWS4${secret}`),
  );
  const { host: _, ...sent } = headers;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${hmac(key, toSign).toString('hex')}`,
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
/** All but letters, digits and `-._~`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
