import { createHash, createHmac } from 'node:crypto';

export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names, all of which are signed, besides `host` and those that are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AccessKey {
  readonly id: string;
  readonly secret: string;
  readonly region: string;
}

const algorithm = 'AWS4-HMAC-SHA256';
const service = 's3';

/** Returns the headers of a request to an object store, with its Signature Version 4. */
export function signedHeaders(
  { method, url, headers, body }: SignedRequest,
  { id, secret, region }: AccessKey,
  at: number,
): Record<string, string> {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const digest = sha256(body);
  const signed: Record<string, string> = {
    ...headers,
    'x-amz-content-sha256': digest,
    'x-amz-date': time,
  };
  const all = Object.entries({ ...signed, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = all.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname,
    [...url.searchParams]
      .map((pair) => pair.map(encodeURIComponent).join('='))
      .sort()
      .join('&'),
    ...all.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    digest,
  ].join('\n');
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
  const key = scope
    .split('/')
    .reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`);
  const signature = hmac(key, [algorithm, time, scope, sha256(canonical)].join('\n')).toString(
    'hex',
  );
  return {
    ...signed,
    authorization: `${algorithm} Credential=${id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
