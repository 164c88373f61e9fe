import { isSvcError, messageOf, type OutboundReply, type OutboundRequest, SvcError, type Tables } from 'svc/sdk';

import { type Addresses, withoutKeys } from './address.ts';
import { channelOf } from './channel.ts';
import { channelTemplate } from './channel-template.ts';
import type { Kinds } from './channel-types.ts';
import type { ChannelAddress, ChannelReply, ChannelType, Telling, Verdict } from './contract.ts';
import { deliveryStore } from './delivery-store.ts';
import { oneLine } from './plain-text.ts';
import type { ChannelRow, Delivery, NotifyTables } from './tables.ts';
import { type LinkOf, tellDigest, tellOf, tellTest } from './telling.ts';

/** How one try ended. `unclear`: the platform may have it all the same. */
export type Tried =
  | { readonly result: 'sent' }
  | { readonly result: 'retry'; readonly reason: string; readonly afterMs?: number; readonly unclear: boolean }
  | { readonly result: 'failed'; readonly reason: string; readonly degraded: boolean; readonly unclear: boolean }
  /** Ended by us, before the platform said anything. */
  | { readonly result: 'stopped' };

export interface AttemptParts {
  readonly tables: Tables<NotifyTables>;
  readonly kinds: Kinds;
  readonly addresses: Addresses;
  readonly linkOf: LinkOf;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly now: () => number;
  /** Of one request; default 10 s. */
  readonly timeoutMs?: number;
}

const mostReplyBytes = 256 * 1024;
const longestReason = 300;
/** Incidents that a digest may name. */
const mostEntries = 200;

/** Tells one channel one thing, once. Never throws. */
export async function attempt(parts: AttemptParts, row: Delivery, channel: ChannelRow, stopped: () => boolean): Promise<Tried> {
  let address: ChannelAddress = { endpoint: '', secret: '' };
  try {
    address = parts.addresses.open(channel);
    const type = parts.kinds.find(channel.channel_type);
    if (type === undefined) {
      return { result: 'retry', reason: `nobody brings channels of type ${channel.channel_type} at the moment`, unclear: false };
    }
    type.check(address);
    const telling = await tellingOf(parts, row, channel);
    const rich = await post(parts, type, telling, address, false);
    const verdict = rich.result === 'plain' ? await post(parts, type, telling, address, true) : rich;
    return tried(verdict, address);
  } catch (error) {
    return stopped() ? { result: 'stopped' } : troubled(error, address);
  }
}

async function post(
  { fetch, now, timeoutMs = 10_000 }: AttemptParts,
  type: ChannelType,
  telling: Telling,
  address: ChannelAddress,
  plain: boolean,
): Promise<Verdict> {
  const at = now();
  const { url, headers, body } = type.render(telling, address, { now: at, plain });
  const reply = await fetch(url, { method: 'POST', headers, body, timeoutMs, maxBytes: mostReplyBytes });
  const read: ChannelReply = { status: reply.status, headers: reply.headers, body: Buffer.from(reply.body).toString('utf8') };
  return type.judge(read, now());
}

function tried(verdict: Verdict, address: ChannelAddress): Tried {
  switch (verdict.result) {
    case 'sent':
      return verdict;
    case 'plain':
      return { result: 'failed', reason: 'the platform could not read the message, not even as plain text', degraded: false, unclear: false };
    case 'retry':
      return { ...verdict, reason: safe(verdict.reason, address), unclear: false };
    case 'failed':
      return { ...verdict, reason: safe(verdict.reason, address), degraded: verdict.degraded === true, unclear: false };
  }
}

/** What kept the request from being made or answered. */
function troubled(error: unknown, address: ChannelAddress): Tried {
  const reason = safe(messageOf(error), address);
  if (!isSvcError(error)) {
    return { result: 'failed', reason: `the message could not be made: ${reason}`, degraded: false, unclear: false };
  }
  switch (error.code) {
    // An address that may not be reached, is of the wrong form, or cannot be opened: as long as nobody changes it.
    case 'invalid_argument':
    case 'conflict':
    case 'not_found':
    case 'forbidden':
      return { result: 'failed', reason, degraded: true, unclear: false };
    default:
      return tooLarge.test(error.message)
        ? { result: 'failed', reason, degraded: false, unclear: true }
        : { result: 'retry', reason, unclear: !neverArrived.has(String((error.cause as { code?: unknown } | undefined)?.code)) };
  }
}

/** It was received, so that another try would only repeat it. */
const tooLarge = /^the answer is larger than/;
const neverArrived = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);

const safe = (text: string, address: ChannelAddress): string => oneLine(withoutKeys(text, address), longestReason);

async function tellingOf({ tables, linkOf }: AttemptParts, row: Delivery, channel: ChannelRow): Promise<Telling> {
  const store = deliveryStore(tables.read);
  if (row.kind === 'test') {
    return tellTest(row.id, channel.name, linkOf(undefined));
  }
  if (row.kind === 'digest') {
    const { notices, counts } = await store.members(row.seq, mostEntries);
    return tellDigest(row.id, notices, counts, linkOf(undefined));
  }
  if (row.notice_id === null) {
    throw new SvcError('internal', `delivery ${row.id} belongs to no notice`);
  }
  const { template } = channelOf(channel);
  const notice = await store.notice(row.notice_id);
  return tellOf(row.id, notice, linkOf(notice.incident.id), template === undefined ? undefined : channelTemplate(template));
}
