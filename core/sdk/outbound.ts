import type { MaybePromise } from './scope.ts';

/** One request to an address that somebody typed. */
export interface OutboundRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Time limit of the whole exchange; default 10 000. */
  readonly timeoutMs?: number;
  /** Largest answer; default 1 MiB. */
  readonly maxBytes?: number;
  /**
   * Called with the head of the answer; returns the consumer of its body, which takes it piece by
   * piece, at its own pace; the reply has none then.
   */
  readonly onBody?: (
    head: Omit<OutboundReply, 'body'>,
  ) => (piece: Uint8Array) => MaybePromise<void>;
  /** Max time of silence of the peer, within the whole. */
  readonly idleMs?: number;
  /**
   * Max redirects to follow, each checked again; default none: the redirect itself is the answer.
   */
  readonly redirects?: number;
  /** `loopback`: a peer that the plugin itself runs on this machine. Default: the internet, and what `outbound.allow_private` lists. */
  readonly reach?: 'configured' | 'loopback';
  readonly tls?: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly serverName?: string;
    /** Takes any certificate. */
    readonly insecure?: boolean;
  };
  readonly signal?: AbortSignal;
}

export interface OutboundReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly url: string;
}

/** Max marks (commas, colons and opening brackets) of JSON that is parsed while others wait: at their worst they take 20 ms. */
const maxJsonMarks = 100_000;

/** Parses JSON of a stranger; throws a SyntaxError for what is none, and a RangeError for what would keep others waiting. */
export function parseForeignJson(text: string, mostMarks = maxJsonMarks): unknown {
  let [marks, isText] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) {
      at++;
    } else if (code === 0x22) {
      isText = !isText;
    } else if (!isText && ',:[{'.includes(text[at]!) && ++marks > mostMarks) {
      throw new RangeError(`${mostMarks} values`);
    }
  }
  return JSON.parse(text);
}
