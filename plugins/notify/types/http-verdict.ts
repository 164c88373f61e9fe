import type { ChannelReply, Verdict } from 'svc/contracts/notify';

import { oneLine } from '../message/plain-text.ts';

/** Longer waits that a platform asks for are cut to this. */
const longestWaitMs = 3_600_000;

/** Returns the verdict of the status alone; undefined if the body decides. */
export function httpVerdict(reply: ChannelReply, now: number): Verdict | undefined {
  const { status } = reply;
  const said = `the platform answered ${status}${excerpt(reply)}`;
  if (status >= 200 && status < 300) {
    return undefined;
  }
  if (status >= 300 && status < 400) {
    return {
      result: 'failed',
      reason: `the platform answered ${status}, a redirect, which is not followed; enter its target`,
      degraded: true,
    };
  }
  if (status === 429 || status === 408 || status === 425 || status >= 500) {
    return { result: 'retry', reason: said, ...asked(retryAfterMs(reply, now)) };
  }
  return { result: 'failed', reason: said, degraded: [401, 403, 404, 410].includes(status) };
}

/** `Retry-After` as seconds or as a date. */
export function retryAfterMs({ headers }: ChannelReply, now: number): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') {
    return undefined;
  }
  const ms = /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? bounded(ms) : undefined;
}

export const asked = (ms: number | undefined): { afterMs?: number } =>
  ms === undefined ? {} : { afterMs: bounded(ms) };

/** The reply as an object; undefined for anything else. */
export function jsonReply({ body }: ChannelReply): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** `: code 19021, sign match fail`. */
export const platformSaid = (code: unknown, text: unknown): string =>
  `the platform answered with code ${oneLine(String(code), 40)}${typeof text === 'string' && text !== '' ? `: ${oneLine(text, 160)}` : ''}`;

/** Codes of a platform that answers 200 with an `errcode`: how long to wait after some, and which ask for a change of the channel. */
export interface ErrorCodes {
  readonly waitMs: ReadonlyMap<number, number>;
  readonly refused: ReadonlySet<number>;
}

/**
 * Returns the verdict of `{"errcode": 0, "errmsg": "ok"}`; -1 is a temporary fault of the platform.
 */
export function errcodeVerdict(
  reply: ChannelReply,
  now: number,
  { waitMs, refused }: ErrorCodes,
): Verdict {
  const verdict = httpVerdict(reply, now);
  const said = verdict === undefined ? jsonReply(reply) : undefined;
  const code = said?.['errcode'];
  if (typeof code !== 'number') {
    return verdict ?? strange(reply);
  }
  if (code === 0) {
    return { result: 'sent' };
  }
  const reason = platformSaid(code, said?.['errmsg']);
  return code === -1 || waitMs.has(code)
    ? { result: 'retry', reason, ...asked(waitMs.get(code)) }
    : { result: 'failed', reason, degraded: refused.has(code) };
}

/**
 * Returns the verdict of a reply that is not the platform's: perhaps a proxy's, which may be
 * temporary.
 */
export const strange = (reply: ChannelReply): Verdict => ({
  result: 'retry',
  reason: `the platform answered ${reply.status} with a body that is not its own (a proxy in between?)${excerpt(reply)}`,
});

/**
 * Returns the verdict for a platform whose status decides: a truncated answer that so far looks
 * like its own was a yes.
 */
export const takenByHead = (reply: ChannelReply): Verdict =>
  reply.isCut === true && /^(?:\{|$)/.test(reply.body.trim()) ? { result: 'sent' } : strange(reply);

export const excerpt = ({ body }: ChannelReply): string =>
  body.trim() === '' ? '' : `: ${oneLine(body.slice(0, 400), 160)}`;

const bounded = (ms: number): number => Math.min(Math.max(0, Math.ceil(ms)), longestWaitMs);
