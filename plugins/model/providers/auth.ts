import { signature, type Signed } from './signature.ts';

/** Form in which a provider wants its key. */
export type Auth = 'bearer' | 'x-api-key' | 'x-goog-api-key' | 'api-key' | 'aws';

/** Returns the headers that prove who asks. */
export function authHeaders(
  auth: Auth,
  key: string,
  request: Signed,
): Readonly<Record<string, string>> {
  if (key === '') {
    return {};
  }
  // A key of Bedrock alone is a token; the keys of an account have two or three parts, and sign.
  const [accessKey, secret, token = ''] = auth === 'aws' ? key.split(':') : [];
  if (accessKey !== undefined && secret !== undefined && URL.canParse(request.url)) {
    const [, region = 'us-east-1'] =
      /^bedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\./.exec(new URL(request.url).host) ?? [];
    return signature(request, { accessKey, secret, token, region, service: 'bedrock' });
  }
  return auth === 'bearer' || auth === 'aws' ? { authorization: `Bearer ${key}` } : { [auth]: key };
}
