import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';

const withinMs = 10_000;
const mostText = 65_536;

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** When each piece came, after the head. */
  readonly pieces: readonly { readonly atMs: number; readonly text: string }[];
  /** Reason why the certificate would not be trusted; undefined if it is, or if there is none. */
  readonly doubt: string | undefined;
}

/** Returns the answer of an address, whatever its certificate; nothing secret is sent to it. */
export function answerOf(url: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? tlsRequest : plainRequest;
    const options = {
      agent: false,
      rejectUnauthorized: false,
      signal: AbortSignal.timeout(withinMs),
    };
    const call = request(url, options, (response) => {
      const began = performance.now();
      const pieces: { atMs: number; text: string }[] = [];
      const { authorizationError } = response.socket as TLSSocket;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text = (text + piece).slice(0, mostText);
        pieces.push({ atMs: performance.now() - began, text: piece });
      });
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text,
          pieces,
          doubt:
            authorizationError === undefined ? undefined : String(authorizationError) || undefined,
        }),
      );
    });
    call.once('error', reject);
    call.end();
  });
}
