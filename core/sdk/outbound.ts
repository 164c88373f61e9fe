import type { MaybePromise } from './scope.ts';

/** One request to an address that somebody typed. */
export interface OutboundRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Of the whole exchange; default 10 000. */
  readonly timeoutMs?: number;
  /** Largest answer; default 1 MiB. */
  readonly maxBytes?: number;
  /** Is given the head of the answer and returns who takes its body piece by piece, at its own pace; the reply has none then. */
  readonly onBody?: (
    head: Omit<OutboundReply, 'body'>,
  ) => (piece: Uint8Array) => MaybePromise<void>;
  /** How long the peer may be silent, within the whole. */
  readonly idleMs?: number;
  /** How many redirects are followed, each checked again; default none: the redirect itself is the answer. */
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
