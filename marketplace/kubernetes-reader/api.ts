import { type PackContext, SvcError } from 'svc/sdk';

export interface Cluster {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** One GET to the API of a cluster, made by svc; no other method is in this pack. */
export async function read(
  { url, token, ca }: Cluster,
  path: string,
  query: Readonly<Record<string, string>>,
  fetch: PackContext['fetch'],
): Promise<string> {
  if (url === '') {
    throw new SvcError(
      'conflict',
      'no cluster is set: set kubernetes-reader.url and kubernetes-reader.token',
    );
  }
  const address = new URL(`${url.replace(/\/+$/, '')}${path}`);
  Object.entries(query).forEach(([name, value]) => address.searchParams.set(name, value));
  const headers = {
    accept: 'application/json',
    ...(token !== '' && { authorization: `Bearer ${token}` }),
  };
  const { status, body } = await fetch(address.href, { headers, ...(ca !== '' && { ca }) });
  const text = Buffer.from(body).toString('utf8');
  if (status !== 200) {
    throw new SvcError('upstream_error', `the cluster answered ${status}: ${complaint(text)}`);
  }
  return text;
}

function complaint(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message.slice(0, 300) : 'no reason';
  } catch {
    return text.slice(0, 100);
  }
}
