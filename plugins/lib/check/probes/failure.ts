import { isSvcError, messageOf } from 'svc/sdk';

import { plain } from '../model/plain-text.ts';

const longest = 300;

/** Words for the codes of the system that people meet most. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by the server',
  EPIPE: 'connection closed by the server',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'connection timed out',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'no name server answered',
  EPROTO: 'the server does not speak TLS as expected',
  HPE_INVALID_CONSTANT: 'the answer is not HTTP',
};

/** Returns why a probe failed, in a few words without characters that a terminal would obey. */
export function failureOf(error: unknown, timeout: AbortSignal, timeoutMs: number): string {
  if (timeout.aborted) {
    return `no answer within ${timeoutMs / 1000} s`;
  }
  const { code } = error as { readonly code?: unknown };
  const text = isSvcError(error)
    ? error.message
    : typeof code === 'string'
      ? (meanings[code] ?? `${plain(messageOf(error))} (${code})`)
      : plain(messageOf(error));
  return plain(text).slice(0, longest) || 'unknown error';
}
