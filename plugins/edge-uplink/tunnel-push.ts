import type { PushParams } from 'svc/edge-protocol';
import { isSvcError, messageOf } from 'svc/sdk';
import type { TunnelSession } from 'svc/tunnel';

import type { BufferRecord } from './buffer/record.ts';
import type { PushOutcome } from './push.ts';

/** A call of this size keeps the pings and calls behind it waiting for a moment only; what is larger goes as a request. */
export const mostTunnelBytes = 128 * 1024;

const wholeMs = 60_000;
/** Codes that speak of the body. Of all others another try may have another end. */
const final = new Set(['invalid_argument', 'not_found', 'conflict']);

/** Hands a record to the manager through the tunnel. */
export async function pushThrough(session: TunnelSession, { head, body }: BufferRecord, signal: AbortSignal): Promise<PushOutcome> {
  const params: PushParams = { to: head.to, type: head.type, encoding: head.encoding, body: Buffer.from(body).toString('base64') };
  try {
    await session.call('push', params, { timeoutMs: wholeMs, signal });
    return { kind: 'taken' };
  } catch (error) {
    const reason = messageOf(error);
    if (isSvcError(error) && final.has(error.code)) {
      return { kind: 'refused', reason };
    }
    const seconds = isSvcError(error) ? error.retryAfterSeconds : undefined;
    return { kind: 'later', reason, afterMs: seconds === undefined ? undefined : seconds * 1_000 };
  }
}
