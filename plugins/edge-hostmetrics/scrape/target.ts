import { type Clock, type OutboundReply, type OutboundRequest, SvcError } from 'svc/sdk';

import { milliseconds, type TargetSpec } from './target-spec.ts';

export type Fetch = (url: string, request: OutboundRequest) => Promise<OutboundReply>;

export interface TargetPorts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** `host:port` that the owner of this machine allows besides the machine itself. */
  readonly allowed: () => readonly string[];
}

/** What came back: text, and in which of the two formats. */
export interface Answer {
  readonly text: string;
  readonly openMetrics: boolean;
}

const accept =
  'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

/** Asks one target. Its address is the manager's wish; where it may lead is for the owner of this machine to say. */
export async function ask(
  { url, timeout, max_bytes }: TargetSpec,
  { fetch, allowed }: TargetPorts,
  signal: AbortSignal,
): Promise<Answer> {
  const reply = await fetch(url, {
    reach: reachOf(url, allowed()),
    headers: { accept },
    timeoutMs: milliseconds(timeout),
    maxBytes: max_bytes,
    signal,
  });
  if (reply.status !== 200) {
    throw new SvcError('upstream_error', `it answered with status ${reply.status}`);
  }
  const text = new TextDecoder().decode(reply.body);
  return {
    text,
    openMetrics: /^\s*application\/openmetrics-text\b/i.test(reply.headers['content-type'] ?? ''),
  };
}

/** Loopback is checked again where the connection is made: a name that leads elsewhere is refused there. */
export function reachOf(url: string, allowed: readonly string[]): 'loopback' | 'configured' {
  const address = parsed(url);
  if (
    address === undefined ||
    !/^https?:$/.test(address.protocol) ||
    address.username !== '' ||
    address.password !== ''
  ) {
    throw new SvcError(
      'invalid_argument',
      'the address of a target is http or https, without a user',
    );
  }
  const { hostname, protocol } = address;
  if (hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)) {
    return 'loopback';
  }
  const port = address.port === '' ? (protocol === 'https:' ? '443' : '80') : address.port;
  if (!allowed.includes(`${hostname}:${port}`)) {
    throw new SvcError(
      'forbidden',
      `${hostname}:${port} is not this machine, and its policy does not list it under tcp`,
    );
  }
  return 'configured';
}

function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    // Not an address: the caller says so.
    return undefined;
  }
}
