import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

import { SvcError } from 'svc/sdk';

export interface Cluster {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

const maxBytes = 4 * 1024 * 1024;

/** One GET to the API of a cluster; no other method is in this pack. */
export function read(cluster: Cluster, path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string> {
  if (cluster.url === '') {
    throw new SvcError('conflict', 'no cluster is set: set kubernetes-reader.url and kubernetes-reader.token');
  }
  const url = new URL(`${cluster.url.replace(/\/+$/, '')}${path}`);
  Object.entries(query).forEach(([name, value]) => url.searchParams.set(name, value));
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = { accept: 'application/json', ...(cluster.token !== '' && { authorization: `Bearer ${cluster.token}` }) };
  return new Promise((resolve, reject) => {
    const asking = request(url, { headers, signal, ...(cluster.ca !== '' && { ca: cluster.ca }) }, (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (part: Buffer) => {
        bytes += part.length;
        parts.push(part);
        if (bytes > maxBytes) {
          asking.destroy(new SvcError('upstream_error', `the cluster answered with more than ${maxBytes / 1024 / 1024} MiB; ask for one namespace`));
        }
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        if (answer.statusCode === 200) {
          resolve(text);
        } else {
          reject(new SvcError('upstream_error', `the cluster answered ${answer.statusCode}: ${complaint(text)}`));
        }
      });
    });
    asking.on('error', (error) =>
      reject(error instanceof SvcError ? error : new SvcError('upstream_error', `the cluster cannot be reached: ${error.message}`)),
    );
    asking.end();
  });
}

function complaint(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message.slice(0, 300) : 'no reason';
  } catch {
    return text.slice(0, 100);
  }
}
