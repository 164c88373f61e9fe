import { type ErrorCode, errorStatus } from 'svc/sdk';

/** The channel is this descriptor of the child. */
export const channelFd = 3;

/** What the host says; structured clones, because the host is trusted. */
export type ToChild =
  | ({ readonly t: 'load' } & Load)
  | { readonly t: 'setting'; readonly key: string; readonly value: unknown }
  | { readonly t: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: WireError }
  | { readonly t: 'call'; readonly id: number; readonly method: string; readonly input: unknown }
  | { readonly t: 'cancel'; readonly id: number }
  | { readonly t: 'ping' };

/** What a process runs, and what it is told before it does. */
export interface Load {
  readonly code: string;
  readonly filename: string;
  readonly network: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Whether it starts at once, or is asked to later. */
  readonly start: boolean;
  readonly maxPayloadBytes: number;
}

/** What the child says; JSON, because a hostile structured clone of a few bytes can claim an array of billions. */
export type FromChild =
  | { readonly t: 'started' }
  | { readonly t: 'not-started'; readonly error: WireError }
  | { readonly t: 'reply'; readonly id: number; readonly value?: unknown; readonly error?: WireError }
  | { readonly t: 'ask'; readonly id: number; readonly method: string; readonly input: unknown }
  | { readonly t: 'pong' };

/** What a child may ask at once; it waits by itself before. */
export const maxAsks = 16;

/** All that is left of an error on the other side. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Room for what surrounds a payload in its frame. */
export const envelopeBytes = 4 * 1024;

const maxMessage = 2_000;

/** Reads a message of the child, or `undefined` when it is none: the sender may be hostile. */
export function parseFromChild(frame: Buffer): FromChild | undefined {
  const message = jsonOf(frame);
  switch (message?.['t']) {
    case 'started':
      return { t: 'started' };
    case 'pong':
      return { t: 'pong' };
    case 'not-started':
      return { t: 'not-started', error: wireError(message['error']) };
    case 'reply': {
      const { id, value, error } = message;
      if (typeof id !== 'number') {
        return undefined;
      }
      return error === undefined ? { t: 'reply', id, value } : { t: 'reply', id, error: wireError(error) };
    }
    case 'ask': {
      const { id, method, input } = message;
      return typeof id === 'number' && typeof method === 'string' ? { t: 'ask', id, method, input } : undefined;
    }
    default:
      return undefined;
  }
}

function jsonOf(frame: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(frame.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Not JSON is one more way to break the protocol; the caller ends the child for it.
    return undefined;
  }
}

function wireError(error: unknown): WireError {
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  return {
    code: typeof code === 'string' && Object.hasOwn(errorStatus, code) ? (code as ErrorCode) : 'internal',
    message: typeof message === 'string' ? message.slice(0, maxMessage) : 'the child gave no reason',
  };
}
