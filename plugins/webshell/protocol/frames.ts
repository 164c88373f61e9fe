import { limits } from './limits.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** Credentials of a person for the SSH server. Only ever in memory. */
export type Login =
  | { readonly type: 'password'; readonly password: string }
  | {
      readonly type: 'key';
      readonly private_key: string;
      readonly passphrase?: string | undefined;
    };

export interface OpenFrame extends Size {
  readonly type: 'open';
  readonly term: string;
  readonly user: string | undefined;
  readonly auth: Login;
  /** The browser tells with ack frames how much it has shown. */
  readonly acks: boolean;
}

/** First frame of a browser that reconnects to its shell. */
export interface AttachFrame extends Size {
  readonly type: 'attach';
  /** Number of bytes of the output received, counted from the beginning of the shell. */
  readonly from: number;
  readonly acks: boolean;
}

export type ClientFrame =
  | OpenFrame
  | AttachFrame
  | ({ readonly type: 'resize' } & Size)
  | { readonly type: 'ack'; readonly bytes: number }
  | { readonly type: 'close' };

export type ServerFrame =
  | {
      readonly type: 'ready';
      readonly session_id: number;
      readonly user: string;
      readonly host_key: {
        readonly algorithm: string;
        readonly fingerprint: string;
        readonly trust: 'known' | 'first_use';
      };
      readonly recorded: boolean;
    }
  | {
      readonly type: 'attached';
      readonly session_id: number;
      /** Position at which the output continues; what came before it is lost. */
      readonly from: number;
      readonly missed: number;
    }
  | { readonly type: 'exit'; readonly exit_code: number | null; readonly signal: string | null }
  | { readonly type: 'notice'; readonly code: 'idle'; readonly message: string }
  | { readonly type: 'error'; readonly code: string; readonly message: string };

/** Pattern of a remote user that SSH servers accept; it occurs in titles and rows. */
export const userPattern = '^[A-Za-z0-9_][A-Za-z0-9_.@\\\\-]{0,63}$';

const user = /^[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,63}$/;
const term = /^[A-Za-z0-9][A-Za-z0-9+._-]{0,31}$/;
const longestPassword = 1_024;

/** Parses a text frame of the browser; undefined if it is invalid. */
export function readFrame(text: string): ClientFrame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON is as good as any other wrong frame.
    return undefined;
  }
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  const frame = value as Readonly<Record<string, unknown>>;
  switch (frame['type']) {
    case 'open':
      return readOpen(frame);
    case 'attach':
      return readAttach(frame);
    case 'resize': {
      const size = only(frame, ['type', 'cols', 'rows']) ? readSize(frame) : undefined;
      return size && { type: 'resize', ...size };
    }
    case 'ack':
      return only(frame, ['type', 'bytes']) && isCount(frame['bytes'])
        ? { type: 'ack', bytes: frame['bytes'] }
        : undefined;
    case 'close':
      return only(frame, ['type']) ? { type: 'close' } : undefined;
    default:
      return undefined;
  }
}

function readOpen(frame: Readonly<Record<string, unknown>>): OpenFrame | undefined {
  const size = readSize(frame);
  const auth = readLogin(frame['auth']);
  const fits =
    only(frame, ['type', 'cols', 'rows', 'term', 'user', 'auth', 'acks']) &&
    matches(term, frame['term']) &&
    (frame['user'] === undefined || matches(user, frame['user'])) &&
    (frame['acks'] === undefined || typeof frame['acks'] === 'boolean');
  return fits && size && auth
    ? {
        type: 'open',
        ...size,
        term: frame['term'] as string,
        user: frame['user'] as string | undefined,
        auth,
        acks: frame['acks'] === true,
      }
    : undefined;
}

function readAttach(frame: Readonly<Record<string, unknown>>): AttachFrame | undefined {
  const size = readSize(frame);
  const { from, acks = false } = frame;
  const fits =
    only(frame, ['type', 'from', 'cols', 'rows', 'acks']) &&
    isCount(from) &&
    typeof acks === 'boolean';
  return fits && size ? { type: 'attach', from, ...size, acks } : undefined;
}

function readLogin(value: unknown): Login | undefined {
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  const {
    type,
    password,
    private_key: key,
    passphrase,
  } = value as Readonly<Record<string, unknown>>;
  if (type === 'password') {
    return only(value, ['type', 'password']) && isText(password, longestPassword)
      ? { type, password }
      : undefined;
  }
  const fits =
    type === 'key' &&
    only(value, ['type', 'private_key', 'passphrase']) &&
    isText(key, limits.keyBytes);
  return fits && (passphrase === undefined || isText(passphrase, longestPassword))
    ? { type: 'key', private_key: key, passphrase }
    : undefined;
}

/**
 * Parses a terminal size within bounds; dragging a browser window passes through every other size,
 * too.
 */
function readSize({ cols, rows }: Readonly<Record<string, unknown>>): Size | undefined {
  return isCount(cols) && isCount(rows)
    ? { cols: within(limits.columns, cols), rows: within(limits.rows, rows) }
    : undefined;
}

const within = (
  { min, max }: { readonly min: number; readonly max: number },
  value: number,
): number => Math.min(max, Math.max(min, value));
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longest;
const matches = (form: RegExp, value: unknown): value is string =>
  typeof value === 'string' && form.test(value);
const only = (frame: object, names: readonly string[]): boolean =>
  Object.keys(frame).every((name) => names.includes(name));
