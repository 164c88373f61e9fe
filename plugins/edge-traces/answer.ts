import type { ServerResponse } from 'node:http';

import { type ErrorCode, isSvcError } from 'svc/sdk';

import { errors } from './errors.ts';

export const protobufType = 'application/x-protobuf';
export const jsonType = 'application/json';

/** Everything was taken. */
export function accept(response: ServerResponse, json: boolean): void {
  response
    .writeHead(200, { 'content-type': json ? jsonType : protobufType })
    .end(json ? '{"partialSuccess":{}}' : '');
}

/** A status as gRPC knows it, in the language of the request. Clients try again after 429, 502, 503 and 504 only. */
export function refuse(response: ServerResponse, json: boolean, thrown: unknown): void {
  const error = isSvcError(thrown) ? thrown : errors.not_stored();
  const code = grpcCodes[error.code] ?? grpcCodes.internal;
  const message = error.message.slice(0, longestMessage);
  const retryAfter =
    error.status === 503 ? (error.retryAfterSeconds ?? usualRetrySeconds) : error.retryAfterSeconds;
  response.writeHead(error.status, {
    'content-type': json ? jsonType : protobufType,
    ...error.headers,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    // The rest of a refused body is not read.
    ...(error.status === 413 && { connection: 'close' }),
  });
  response.end(json ? JSON.stringify({ code, message }) : statusMessage(code, message));
}

const usualRetrySeconds = 5;
const longestMessage = 500;

/** google.rpc.Status: `code = 1`, `message = 2`. */
function statusMessage(code: number, message: string): Buffer {
  const text = Buffer.from(message);
  const length =
    text.length < 0x80 ? [text.length] : [(text.length & 0x7f) | 0x80, text.length >> 7];
  return Buffer.concat([Buffer.from([0x08, code, 0x12, ...length]), text]);
}

const grpcCodes: Readonly<Partial<Record<ErrorCode, number>> & { readonly internal: number }> = {
  invalid_argument: 3,
  not_found: 5,
  rate_limited: 8,
  internal: 13,
  unavailable: 14,
};
