import { type ErrorCode, errorStatus, type MessageCode } from 'svc/sdk';

/** The channel is this descriptor of the child. */
export const channelFd = 3;

/** Message of the host; structured clones, because the host is trusted. */
export type ToChild =
  | ({ readonly t: 'load' } & Load)
  | { readonly t: 'setting'; readonly key: string; readonly value: unknown }
  | {
      readonly t: 'answer';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: WireError;
    }
  | ({
      readonly t: 'call';
      readonly id: number;
      readonly method: string;
      readonly input: unknown;
    } & Bodies)
  | { readonly t: 'cancel'; readonly id: number }
  | {
      readonly t: 'piece';
      readonly id: number;
      readonly bytes?: Uint8Array;
      readonly error?: WireError;
    }
  | { readonly t: 'more'; readonly id: number; readonly bytes: number }
  | { readonly t: 'ping' };

/** Bodies of a call that are sent in pieces: that of the request, that of the answer. */
export interface Bodies {
  readonly hasBody?: boolean;
  readonly bytes?: boolean;
}

/** Keys of what a manifest describes, by the field of the pack's definition that answers them. */
export interface Described {
  readonly routes: readonly string[];
  readonly events: readonly string[];
  readonly skills: readonly string[];
}

/** Program of a process, with its parameters. */
export interface Load {
  readonly code: string;
  readonly filename: string;
  readonly network: boolean;
  /** What its manifest describes, and so what its code must answer. */
  readonly described?: Described;
  readonly settings: Readonly<Record<string, unknown>>;
  /** True to start immediately; otherwise it is asked to later. */
  readonly start: boolean;
  readonly maxPayloadBytes: number;
}

/**
 * Message of the child; JSON, because a hostile structured clone of a few bytes can claim an array
 * of billions.
 */
export type FromChild =
  /** A resident pack has work of its own, which no call begins. */
  | { readonly t: 'started'; readonly isResident: boolean }
  | { readonly t: 'not-started'; readonly error: WireError }
  | {
      readonly t: 'reply';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: WireError;
      readonly streams?: boolean;
    }
  /** Bytes in base64; without them the body is over, with an error it is truncated. */
  | { readonly t: 'piece'; readonly id: number; readonly data?: string; readonly error?: WireError }
  | { readonly t: 'more'; readonly id: number; readonly bytes: number }
  | { readonly t: 'ask'; readonly id: number; readonly method: string; readonly input: unknown }
  | { readonly t: 'pong' };

/** Max concurrent requests of a child; it queues further ones itself. */
export const maxAsks = 16;

/** All that is left of an error on the other side. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason?: MessageCode;
}

/** Size of what surrounds a payload in its frame. */
export const envelopeBytes = 4 * 1024;

const maxMessage = 2_000;

/** Reasons by the permission that Node denies; other reasons are the host's own. */
export const deniedBy = {
  FileSystemRead: 'packs.denied_read',
  FileSystemWrite: 'packs.denied_write',
  ChildProcess: 'packs.denied_process',
  WorkerThreads: 'packs.denied_thread',
  Net: 'packs.denied_network',
} as const satisfies Readonly<Record<string, MessageCode>>;
const deniedReasons: ReadonlySet<MessageCode> = new Set(Object.values(deniedBy));

/** Parses a message of the child; `undefined` if it is invalid, as the sender may be hostile. */
export function parseFromChild(frame: Buffer): FromChild | undefined {
  const message = jsonOf(frame);
  switch (message?.['t']) {
    case 'started':
      return { t: 'started', isResident: message['isResident'] === true };
    case 'pong':
      return { t: 'pong' };
    case 'not-started':
      return { t: 'not-started', error: wireError(message['error']) };
    case 'reply': {
      const { id, value, error, streams } = message;
      if (typeof id !== 'number') {
        return undefined;
      }
      return error === undefined
        ? { t: 'reply', id, value, streams: streams === true }
        : { t: 'reply', id, error: wireError(error) };
    }
    case 'piece': {
      const { id, data, error } = message;
      if (typeof id !== 'number' || (data !== undefined && typeof data !== 'string')) {
        return undefined;
      }
      return {
        t: 'piece',
        id,
        ...(data !== undefined && { data }),
        ...(error !== undefined && { error: wireError(error) }),
      };
    }
    case 'more': {
      const { id, bytes } = message;
      return typeof id === 'number' && typeof bytes === 'number'
        ? { t: 'more', id, bytes }
        : undefined;
    }
    case 'ask': {
      const { id, method, input } = message;
      return typeof id === 'number' && typeof method === 'string'
        ? { t: 'ask', id, method, input }
        : undefined;
    }
    default:
      return undefined;
  }
}

function jsonOf(frame: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(frame.toString('utf8'));
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Not JSON is one more way to break the protocol; the caller ends the child for it.
    return undefined;
  }
}

function wireError(error: unknown): WireError {
  const { code, message, reason } = (error ?? {}) as Record<string, unknown>;
  return {
    code:
      typeof code === 'string' && Object.hasOwn(errorStatus, code)
        ? (code as ErrorCode)
        : 'internal',
    message:
      typeof message === 'string' ? message.slice(0, maxMessage) : 'the child gave no reason',
    ...(deniedReasons.has(reason as MessageCode) && { reason: reason as MessageCode }),
  };
}
