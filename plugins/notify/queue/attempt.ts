import type {
  ChannelAddress,
  ChannelMessage,
  ChannelRequest,
  PostedChannelType,
  Verdict,
} from 'svc/contracts/notify';
import {
  isSvcError,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
  withDeadline,
} from 'svc/sdk';

import { errors } from './errors.ts';
import { type Addresses, withoutKeys } from '../channels/address.ts';
import type { ChannelTypeRegistry } from '../types/channel-types.ts';
import { type ComposingParts, messageFor, sheetsFor } from './compose.ts';
import { oneLine } from '../message/plain-text.ts';
import { asked } from '../types/http-verdict.ts';
import type { ChannelRow, Delivery } from '../store/tables.ts';

/** Result of an attempt. `unclear`: the platform may have it all the same. */
export type AttemptResult =
  /** `enclose` sends what belongs to it and goes by a request of its own. */
  | { readonly result: 'sent'; readonly enclose?: () => Promise<AttemptResult> }
  | {
      readonly result: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly unclear: boolean;
    }
  | {
      readonly result: 'failed';
      readonly reason: string;
      readonly degraded: boolean;
      readonly unclear: boolean;
    }
  /** Ended by us, before the platform answered. */
  | { readonly result: 'stopped' };

export interface AttemptParts extends ComposingParts {
  readonly types: ChannelTypeRegistry;
  readonly addresses: Addresses;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  /** Time limit of an attempt; default: that of receivers. */
  readonly timeoutMs?: number;
}

/**
 * Time limits of an attempt. A slow receiver gets the message all the same, and once more: a
 * repeated one waits longer. Two such waits fit into a lease.
 */
const [postMs, postAgainMs] = [30_000, 40_000];
const usualMs = 10_000;
/**
 * Factor of the time limit for a channel kind with its own delivery: one that never ends must not
 * block others.
 */
const patience = 2.5;
const maxReplyBytes = 256 * 1024;
const longestReason = 300;

/** Sends one delivery to its channel, once. Never throws. */
export async function attempt(
  parts: AttemptParts,
  row: Delivery,
  channel: ChannelRow,
  stopped: () => boolean,
): Promise<AttemptResult> {
  let address: ChannelAddress = { endpoint: '', secret: '' };
  try {
    address = parts.addresses.open(channel);
    const type = parts.types.find(channel.channel_type);
    if (type === undefined) {
      return {
        result: 'retry',
        reason: `the channel type ${channel.channel_type} is not loaded; enable its plugin`,
        unclear: false,
      };
    }
    type.check(address);
    if ('deliver' in type) {
      const message = await messageFor(parts, row, channel);
      const timeoutMs = parts.timeoutMs ?? usualMs;
      const delivering = type.deliver(message, address, { now: parts.now(), timeoutMs });
      return resultOf(
        await withDeadline(delivering, timeoutMs * patience, () =>
          Promise.reject(errors.channel_late({ seconds: (timeoutMs * patience) / 1_000 })),
        ),
        address,
      );
    }
    const patient = {
      ...parts,
      timeoutMs: parts.timeoutMs ?? (row.unclear === 1 ? postAgainMs : postMs),
    };
    if (type.paged) {
      return await postSheets(patient, type, {
        sheets: sheetsFor(parts, row, channel),
        address,
        stopped,
      });
    }
    const message = await messageFor(parts, row, channel);
    const rich = await post(patient, type, message, address, false);
    const verdict =
      rich.result === 'plain' ? await post(patient, type, message, address, true) : rich;
    const enclose =
      verdict.result === 'sent' ? enclosing(parts, type, { message, address, stopped }) : undefined;
    return { ...resultOf(verdict, address), ...(enclose && { enclose }) };
  } catch (error) {
    return stopped() ? { result: 'stopped' } : resultOfError(error, address);
  }
}

const post = (
  parts: AttemptParts,
  type: PostedChannelType,
  message: ChannelMessage,
  address: ChannelAddress,
  plain: boolean,
): Promise<Verdict> => put(parts, type, type.render(message, address, { now: parts.now(), plain }));

/**
 * Posts the requests of a message one after another. All are sent again if one fails: each has a
 * key by which the receiver knows what it has.
 */
async function postSheets(
  parts: AttemptParts,
  type: PostedChannelType,
  {
    sheets,
    address,
    stopped,
  }: {
    readonly sheets: AsyncIterable<ChannelMessage>;
    readonly address: ChannelAddress;
    readonly stopped: () => boolean;
  },
): Promise<AttemptResult> {
  for await (const sheet of sheets) {
    if (stopped()) {
      return { result: 'stopped' };
    }
    const result = resultOf(await post(parts, type, sheet, address, false), address);
    if (result.result !== 'sent') {
      return result;
    }
  }
  return { result: 'sent' };
}

/** An answer that breaks off, or never ends, counts where what came of it already says that the message was taken. */
async function put(
  { fetch, now, timeoutMs = postMs }: AttemptParts,
  type: PostedChannelType,
  { url, headers, body }: ChannelRequest,
): Promise<Verdict> {
  const pieces: Uint8Array[] = [];
  let head: Omit<OutboundReply, 'body'> | undefined;
  const judged = ({ status, headers: said }: Omit<OutboundReply, 'body'>, isCut = false): Verdict =>
    type.judge(
      { status, headers: said, body: Buffer.concat(pieces).toString('utf8'), isCut },
      now(),
    );
  try {
    const onBody = (begun: typeof head) => {
      head = begun;
      return (piece: Uint8Array): void => void pieces.push(piece);
    };
    return judged(
      await fetch(url, {
        method: 'POST',
        headers,
        body,
        timeoutMs,
        maxBytes: maxReplyBytes,
        onBody,
      }),
    );
  } catch (error) {
    const verdict = head && judged(head, true);
    if (verdict?.result === 'sent') {
      return verdict;
    }
    throw error;
  }
}

interface Sent {
  readonly message: ChannelMessage;
  readonly address: ChannelAddress;
  readonly stopped: () => boolean;
}

/**
 * Returns the enclosure; a picture that cannot be drawn does not affect its message. Undefined if
 * there is none.
 */
function enclosing(
  parts: AttemptParts,
  type: PostedChannelType,
  { message, address, stopped }: Sent,
): (() => Promise<AttemptResult>) | undefined {
  try {
    const request = type.enclosure?.(message, address);
    return (
      request &&
      (() =>
        put(parts, type, request).then(
          (verdict) => resultOf(verdict, address),
          (error: unknown) => (stopped() ? { result: 'stopped' } : resultOfError(error, address)),
        ))
    );
  } catch (error) {
    return async () => resultOfError(error, address);
  }
}

function resultOf(verdict: Verdict, address: ChannelAddress): AttemptResult {
  switch (verdict.result) {
    case 'sent':
      return verdict;
    case 'plain':
      return {
        result: 'failed',
        reason: 'the platform rejected the message, also as plain text',
        degraded: false,
        unclear: false,
      };
    case 'retry':
      // What a type with code of its own asks for may be any number; it is stored as whole milliseconds.
      return {
        ...verdict,
        ...asked(verdict.afterMs),
        reason: safe(verdict.reason, address),
        unclear: false,
      };
    case 'failed':
      return {
        ...verdict,
        reason: safe(verdict.reason, address),
        degraded: verdict.degraded === true,
        unclear: false,
      };
  }
}

/** Converts an error that kept the request from being made or answered. */
function resultOfError(error: unknown, address: ChannelAddress): AttemptResult {
  const reason = safe(messageOf(error), address);
  if (!isSvcError(error)) {
    return {
      result: 'failed',
      reason: `failed to compose the message: ${reason}`,
      degraded: false,
      unclear: false,
    };
  }
  switch (error.code) {
    // An address that may not be reached, is of the wrong form, or cannot be opened: until it is changed.
    case 'invalid_argument':
    case 'conflict':
    case 'not_found':
    case 'forbidden':
      return { result: 'failed', reason, degraded: true, unclear: false };
    default:
      return error.reason === answerTooLarge
        ? { result: 'failed', reason, degraded: false, unclear: true }
        : {
            result: 'retry',
            reason,
            unclear: !neverArrived.has(
              String((error.cause as { code?: unknown } | undefined)?.code),
            ),
          };
  }
}

/**
 * Reason of an answer that is too large: the message was received, so another attempt would only
 * repeat it.
 */
const answerTooLarge = 'outbound.reply_too_large';
const neverArrived = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

const safe = (text: string, address: ChannelAddress): string =>
  oneLine(withoutKeys(text, address), longestReason);
