import { parseForeignJson } from 'svc/sdk';

import type { Facts } from '../model/check.ts';
import type { Means } from '../wire/conversation.ts';
import { probeHttp } from './http.ts';

/** Redirects to the server of the registry that a domain belongs to. */
export const usualRdapServer = 'https://rdap.org';
const maxRedirects = 5;

/** Asks the registry of a domain by RDAP (RFC 9083) until when it is registered. */
export async function probeDomain(means: Means): Promise<Partial<Facts>> {
  const { target, server = usualRdapServer, ...order } = means.order;
  const { body = '', ...facts } = await probeHttp({
    ...means,
    order: {
      ...order,
      target: `${server.replace(/\/+$/, '')}/domain/${encodeURIComponent(target)}`,
      headers: { accept: 'application/rdap+json' },
      max_redirects: maxRedirects,
    },
  });
  if (facts.status === 404) {
    throw new Error(`the registry knows no domain ${target}`);
  }
  if (facts.status !== 200) {
    throw new Error(`the RDAP server responded with status ${facts.status}`);
  }
  const expiresAt = expiryIn(body);
  if (expiresAt === undefined) {
    throw new Error('the answer of the registry contains no expiry date');
  }
  return { ...facts, domain_expires_at: expiresAt };
}

/** Returns the time of the event "expiration"; undefined if there is none. */
function expiryIn(body: string): number | undefined {
  const { events } = documentIn(body) ?? {};
  const expiry = Array.isArray(events)
    ? events.filter(isDocument).find(({ eventAction: action }) => action === 'expiration')
    : undefined;
  const date = expiry?.['eventDate'];
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}

function documentIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const answer = parseForeignJson(body);
    return isDocument(answer) ? answer : undefined;
  } catch {
    // No RDAP server: its answer has no date, and the caller says so.
    return undefined;
  }
}

const isDocument = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
