import { type ErrorCode, errorStatus, isSvcError, SvcError } from 'svc/sdk';

import { ProtocolViolation } from './frames.ts';

export type Body = Readonly<Record<string, unknown>>;

const longestMessage = 2_000;

/** Max values of a body: more would take longer to parse than other edges may have to wait. */
const maxValues = 100_000;

/** A JSON object of the other side: bounded in depth and in values before it is parsed. */
export function parseBody(payload: Buffer, maxDepth: number): Body {
  const { depth, values } = measured(payload);
  if (depth > maxDepth) {
    throw new ProtocolViolation(`JSON nested deeper than ${maxDepth}`);
  }
  if (values > maxValues) {
    throw new ProtocolViolation(`JSON of more than ${maxValues} values`);
  }
  let body: unknown;
  try {
    body = JSON.parse(payload.toString('utf8'));
  } catch {
    throw new ProtocolViolation('a body that is no JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ProtocolViolation('a body that is no JSON object');
  }
  return body as Body;
}

function measured(payload: Buffer): { readonly depth: number; readonly values: number } {
  let depth = 0;
  let values = 1;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < payload.length; at += 1) {
    const byte = payload[at]!;
    if (quoted) {
      if (byte === 0x5c) {
        at += 1;
      } else if (byte === 0x22) {
        quoted = false;
      }
    } else if (byte === 0x22) {
      quoted = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === 0x2c) {
      values += 1;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return { depth: deepest, values };
}

export function text(body: Body, name: string, maxChars: number): string {
  const value = body[name];
  if (typeof value !== 'string' || value.length === 0 || value.length > maxChars) {
    throw new ProtocolViolation(`"${name}" is not a text of 1 to ${maxChars} characters`);
  }
  return value;
}

export function whole(body: Body, name: string, least: number, most: number): number {
  const value = body[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new ProtocolViolation(`"${name}" is not a whole number from ${least} to ${most}`);
  }
  return value;
}

/**
 * Returns the part of an error that crosses: SvcErrors as they are, of all others only the fact
 * that there was one.
 */
export function errorBody(error: unknown): Body {
  if (!isSvcError(error)) {
    return { code: 'internal', message: 'the call failed on the other side; see its log' };
  }
  return {
    code: error.code,
    message: error.message.slice(0, longestMessage),
    ...(error.details && { details: error.details.slice(0, 32) }),
    ...(error.retryAfterSeconds !== undefined && { retry_after: error.retryAfterSeconds }),
  };
}

export function errorFrom(body: Body): SvcError {
  const { code, message, details, retry_after } = body;
  const known =
    typeof code === 'string' && Object.hasOwn(errorStatus, code)
      ? (code as ErrorCode)
      : 'upstream_error';
  const problems = Array.isArray(details) ? details.slice(0, 32).filter(isProblem) : undefined;
  return new SvcError(
    known,
    typeof message === 'string'
      ? message.slice(0, longestMessage)
      : 'the other side refused and did not say why',
    {
      reason: 'tunnel.refused_there',
      ...(problems && { details: problems }),
      ...(typeof retry_after === 'number' &&
        retry_after >= 0 &&
        retry_after <= 86_400 && { retryAfterSeconds: retry_after }),
    },
  );
}

const isProblem = (value: unknown): value is { path: string; message: string } =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Body)['path'] === 'string' &&
  typeof (value as Body)['message'] === 'string';
