import { request } from 'node:http';

import type { WholeHouse } from '../whole-house.ts';

/** A way for data from outside into the server. */
export interface Door {
  readonly name: string;
  /** Largest size that it takes, in MB. */
  readonly mostMb?: number;
  /** Sets up what the door needs, once. */
  readonly open?: () => Promise<void>;
  /** Makes `bytes` to send, and returns what sends them and answers what came of it. */
  readonly send: (bytes: number) => Promise<() => Promise<string>>;
}

/** Repeats a text, separated, up to a size. */
export const repeated = (text: string, bytes: number, separator = ''): string =>
  text +
  (separator + text).repeat(Math.max(0, Math.floor(bytes / (text.length + separator.length)) - 1));

/** JSON values that take longest to parse and to walk through, by the byte. */
export const shapes = {
  'empty lists': (bytes: number): string => `[${repeated('[]', bytes - 2, ',')}]`,
  names: (bytes: number): string =>
    `{${Array.from({ length: Math.floor(bytes / 14) }, (_, at) => `"k${at.toString(36).padStart(7, '0')}":1`).join(',')}}`,
  text: (bytes: number): string => JSON.stringify(repeated('lines of words.\n', bytes)),
} as const;

/** Sends a body; answers the status, or how the connection ended. */
export function posted(
  { url, token }: WholeHouse,
  path: string,
  body: string | Uint8Array,
  {
    method = 'POST',
    headers = {},
  }: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): () => Promise<string> {
  const bytes = Buffer.from(body);
  return () =>
    new Promise((resolve) => {
      const asking = request(
        url + path,
        {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'content-length': bytes.length,
            ...headers,
          },
        },
        (answer) => {
          let text = '';
          answer
            .on('data', (piece) => (text = (text + String(piece)).slice(0, 160)))
            .on('end', () => {
              asking.destroy();
              resolve(`${answer.statusCode} ${brief(text)}`);
            })
            .on('error', () => resolve(String(answer.statusCode)));
        },
      );
      asking.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'broken'));
      asking.end(bytes);
    });
}

const brief = (text: string): string =>
  /"message":"([^"]{0,60})/.exec(text)?.[1] ?? text.slice(0, 30).replaceAll(/\s+/g, ' ');
