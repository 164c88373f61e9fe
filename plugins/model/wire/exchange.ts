import type { OutboundReply, OutboundRequest } from 'svc/sdk';

export type Fetch = (url: string, request: OutboundRequest) => Promise<OutboundReply>;

export interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  /** Max time of silence of the provider; the total time is unlimited. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/** The whole may take this long: a bound for what never ends, not a deadline. */
const longestMs = 15 * 60_000;
const maxBytes = 64 * 1024 * 1024;
const maxErrorBytes = 16 * 1024;

/** Posts JSON and yields the body of a good answer as it comes, at the pace of its reader; any other answer is thrown as `Refusal`. */
export async function* exchange(
  fetch: Fetch,
  { url, headers, body, idleMs, signal }: Sent,
): AsyncGenerator<Uint8Array> {
  const pipe = new Pipe();
  const refused: Uint8Array[] = [];
  const left = new AbortController();
  const leave = (): void => left.abort();
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) {
    leave();
  }
  const call = fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    timeoutMs: longestMs,
    maxBytes,
    idleMs,
    signal: left.signal,
    onBody: (head) =>
      isAnswer(head) ? (piece) => pipe.put(piece) : (piece) => keep(refused, piece),
  });
  const ended = call.then(
    (head) =>
      pipe.end(
        isAnswer(head)
          ? undefined
          : new Refusal(head.status, head.headers, Buffer.concat(refused).toString('utf8')),
      ),
    (error: unknown) => pipe.end(error instanceof Error ? error : new Error(String(error))),
  );
  try {
    yield* pipe.pieces();
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
    pipe.abandon();
    await ended;
  }
}

/**
 * Returns whether a reply is an answer: a wrong address may return a web page with a success
 * status.
 */
const isAnswer = ({ status, headers }: Pick<OutboundReply, 'status' | 'headers'>): boolean =>
  status >= 200 && status < 300 && !(headers['content-type'] ?? '').startsWith('text/html');

/** Error for a provider's reply that is not an answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: OutboundReply['headers'];
  readonly text: string;

  constructor(status: number, headers: OutboundReply['headers'], text: string) {
    super(`status ${status}`);
    this.status = status;
    this.headers = headers;
    this.text = text;
  }
}

function keep(parts: Uint8Array[], piece: Uint8Array): void {
  const room = maxErrorBytes - parts.reduce((sum, { length }) => sum + length, 0);
  parts.push(piece.subarray(0, Math.max(0, room)));
}

/** Hands pieces from who pushes them to who pulls them, one at a time. */
class Pipe {
  #piece: Uint8Array | undefined;
  #taken: () => void = () => undefined;
  #came: () => void = () => undefined;
  #end: { readonly error: Error | undefined } | undefined;
  #isAbandoned = false;

  put(piece: Uint8Array): Promise<void> | undefined {
    if (this.#isAbandoned) {
      return undefined;
    }
    this.#piece = piece;
    this.#came();
    return new Promise((taken) => (this.#taken = taken));
  }

  end(error: Error | undefined): void {
    this.#end = { error };
    this.#came();
  }

  /** Drops what arrives from now on, because its reader is gone. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#taken();
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#piece;
      if (piece !== undefined) {
        this.#piece = undefined;
        yield piece;
        this.#taken();
      } else if (this.#end) {
        if (this.#end.error !== undefined) {
          throw this.#end.error;
        }
        return;
      } else {
        await new Promise<void>((came) => (this.#came = came));
      }
    }
  }
}
