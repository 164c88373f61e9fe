import type { Clock, OutboundReply, OutboundRequest } from 'svc/sdk';

import { errors } from './errors.ts';
import { milliseconds, type TargetSpec } from './target-spec.ts';

export type Fetch = (url: string, request: OutboundRequest) => Promise<OutboundReply>;

export interface TargetPorts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** `host:port` that the owner of this machine allows besides the machine itself. */
  readonly allowed: () => readonly string[];
}

/** Text of the answer, with its format. */
export interface Answer {
  readonly text: string;
  readonly openMetrics: boolean;
}

const accept =
  'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

/**
 * Scrapes one target. Its address is requested by the manager; the owner of this host decides where
 * it may lead.
 */
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
    throw errors.answer_status({ status: reply.status });
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
    throw errors.target_address();
  }
  const { hostname, protocol } = address;
  if (hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)) {
    return 'loopback';
  }
  const port = address.port === '' ? (protocol === 'https:' ? '443' : '80') : address.port;
  if (!allowed.includes(`${hostname}:${port}`)) {
    throw errors.target_not_allowed({ hostname, port });
  }
  return 'configured';
}

function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    // Not an address: the caller reports that.
    return undefined;
  }
}
