import { type Body, text, whole } from '../message/body.ts';
import type { GoAwayReason } from './contract.ts';

export interface RetryWindow {
  readonly minMs: number;
  readonly maxMs: number;
}

const longestRetryMs = 86_400_000;

export const writeGoAway = (
  { code, message }: GoAwayReason,
  retry: RetryWindow | undefined,
): string =>
  JSON.stringify({
    code,
    message: message.slice(0, 500),
    ...(retry && { retry_min_ms: Math.round(retry.minMs), retry_max_ms: Math.round(retry.maxMs) }),
  });

export function readGoAway(body: Body): GoAwayReason & { readonly retry: RetryWindow | undefined } {
  const code = whole(body, 'code', 1000, 4999);
  const message = text(body, 'message', 500);
  if (body['retry_max_ms'] === undefined) {
    return { code, message, retry: undefined };
  }
  const minMs = whole(body, 'retry_min_ms', 0, longestRetryMs);
  return {
    code,
    message,
    retry: { minMs, maxMs: whole(body, 'retry_max_ms', minMs, longestRetryMs) },
  };
}
