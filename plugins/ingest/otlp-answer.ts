import type { ErrorCode, ErrorWording, RequestHeaders, ShownError } from 'svc/sdk';
import { ProtoWriter } from 'svc/store';

import type { PushAnswer } from '../metricsdb/contract.ts';
import { mediaType } from './encoding.ts';

export const protobufType = 'application/x-protobuf';
export const jsonType = 'application/json';

export const speaksJson = (headers: RequestHeaders): boolean => mediaType(headers['content-type']).type === jsonType;

/** The reply of an export: empty, or how many were refused and why. `counted` is the JSON name of that count. */
export function exportAnswer({ rejected, reasons }: PushAnswer, counted: string, json: boolean): string | Uint8Array {
  const message = reasons.join('; ');
  if (json) {
    return JSON.stringify({ partialSuccess: rejected === 0 ? {} : { [counted]: String(rejected), errorMessage: message } });
  }
  const reply = new ProtoWriter();
  if (rejected > 0) {
    reply.message(1, (partial) => partial.int64(1, rejected).string(2, message));
  }
  return reply.finish();
}

/** A status as gRPC knows it, in the language of the request. */
export function statusWording({ code, message }: ShownError, headers: RequestHeaders): ErrorWording {
  const number = grpcCodes[code] ?? grpcCodes.internal;
  return speaksJson(headers)
    ? { type: jsonType, body: JSON.stringify({ code: number, message }) }
    : { type: protobufType, body: new ProtoWriter().uint(1, number).string(2, message).finish() };
}

const grpcCodes: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: 3,
  not_found: 5,
  forbidden: 7,
  rate_limited: 8,
  budget_exceeded: 8,
  conflict: 10,
  internal: 13,
  unavailable: 14,
  upstream_error: 14,
  unauthorized: 16,
};
