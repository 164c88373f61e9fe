import { parseForeignJson } from 'svc/sdk';

/** One message of JSON-RPC 2.0. */
export interface RpcRequest {
  readonly jsonrpc: '2.0';
  /** Id of the request; absent for a notification, which is not answered. */
  readonly id?: string | number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export type RpcReply =
  | { readonly jsonrpc: '2.0'; readonly id: string | number | null; readonly result: unknown }
  | {
      readonly jsonrpc: '2.0';
      readonly id: string | number | null;
      readonly error: { readonly code: number; readonly message: string };
    };

/** Error codes of the standard. */
export const rpcCode = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Max nesting, the same as for bodies of other routes. */
const deepest = 64;

/**
 * Parses the message in a body; throws the error for its sender. Undefined for a reply from a
 * client, as nothing here queries clients.
 */
export function parseRpc(text: string): RpcRequest | undefined {
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch {
    throw new RpcError(rpcCode.parse, 'the body is not JSON');
  }
  if (Array.isArray(value)) {
    throw new RpcError(rpcCode.invalidRequest, 'batches are not taken; send one message a request');
  }
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') {
    throw new RpcError(rpcCode.invalidRequest, 'the body is not a message of JSON-RPC 2.0');
  }
  if (depthOf(value) > deepest) {
    throw new RpcError(
      rpcCode.invalidRequest,
      `the message is nested deeper than ${deepest} levels`,
    );
  }
  const { id, method, params } = value;
  if (method === undefined && ('result' in value || 'error' in value)) {
    return undefined;
  }
  const hasId = typeof id === 'string' || typeof id === 'number';
  if (
    typeof method !== 'string' ||
    !(hasId || id === undefined) ||
    !(params === undefined || isRecord(params))
  ) {
    throw new RpcError(
      rpcCode.invalidRequest,
      'method must be a text, id a text or a number, params an object',
    );
  }
  return { jsonrpc: '2.0', method, ...(hasId && { id }), ...(params !== undefined && { params }) };
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Level by level, so that no depth is too deep to be measured. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let level: readonly unknown[] = [value]; level.length > 0 && depth <= deepest + 1; depth++) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
  }
  return depth;
}
