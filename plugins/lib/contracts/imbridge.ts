import {
  type Clock,
  defineExtensionPoint,
  type OutboundReply,
  type OutboundRequest,
  type RequestHeaders,
} from 'svc/sdk';

/**
 * Target of a message, or its position, in the platform's own terms; only the platform plugin reads
 * it.
 */
export type ImTarget = Readonly<Record<string, string>>;

export type ImMode = 'callback' | 'stream';

/** An app of a platform with its secrets opened: made for one use, and never kept. */
export interface ImApp {
  readonly id: string;
  readonly app_id: string;
  readonly app_secret: string;
  readonly verify_token: string;
  readonly encrypt_key: string;
  /** Base URL of the platform's API without a trailing slash; empty for the default one. */
  readonly endpoint: string;
}

/** Unverified request to the public callback. */
export interface ImCallback {
  readonly method: 'GET' | 'POST';
  readonly headers: RequestHeaders;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly now: number;
}

/** File that a message carried. */
export interface ImFile {
  readonly name: string;
  /** Bytes, where the platform says. */
  readonly size?: number;
  /** Media type; empty where the platform does not say. */
  readonly media_type: string;
  /** Reference by which its platform fetches it. */
  readonly ref: ImTarget;
}

export type ImFetched =
  | { readonly result: 'file'; readonly bytes: Uint8Array }
  | { readonly result: 'retry'; readonly reason: string }
  | { readonly result: 'failed'; readonly reason: string };

/** File of ours, such as an answer that is too long for messages. */
export interface ImDocument {
  readonly name: string;
  readonly text: string;
  readonly key: string;
  readonly again: boolean;
}

/** Picture of ours, such as the chart of what an answer has measured. */
export interface ImPicture {
  readonly name: string;
  /** Words for what it shows: at most 1,000 characters of plain text. */
  readonly caption: string;
  /** A PNG. */
  readonly bytes: Uint8Array;
  readonly key: string;
  readonly again: boolean;
}

/** One thing that a person did on a platform. */
export interface ImEvent {
  /** Key under which the platform re-sends it. */
  readonly key: string;
  /**
   * `action`: a button was pressed or a form submitted, and `text` is its token. `home`: the page of the app was opened.
   * `links`: a message contains links to svc; `text` has one per line.
   */
  readonly kind: 'message' | 'action' | 'home' | 'links';
  readonly sender: string;
  readonly sender_name: string;
  readonly conversation: string;
  /** Between the person and the bot alone. */
  readonly direct: boolean;
  /** True if nobody but its sender sees it and what is answered, although it was said among others. */
  readonly hidden?: boolean;
  /** Thread on the platform: messages of one thread belong to one session. */
  readonly thread: string;
  /** Messages above it in its thread that may be ours, by the ids under which they were sent. */
  readonly replies_to: readonly string[];
  /** Text without the mention of the bot. */
  readonly text: string;
  /** True if it carried pictures, files or sound. */
  readonly has_media: boolean;
  /** Files among them; text is read. */
  readonly files?: readonly ImFile[];
  readonly reply: ImTarget;
  /** Values that a form was filled in with, by the names of its fields. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Trigger by which the platform opens a form in answer to it, within seconds. */
  readonly form?: ImTarget;
  /** True if the button is on the page of the app, which is to show what has come of it. */
  readonly at_home?: boolean;
  /** Id of the message within the app, for platforms that tell of edits. */
  readonly message?: string;
  /** True if it is a new version of that message. */
  readonly edited?: boolean;
  /**
   * True if it was said among others in a thread without naming anyone: it is answered only to who has been answered there
   * last, as long as nobody else has written since.
   */
  readonly continues?: boolean;
}

/**
 * Outcome of a callback. `refused`: its signature is invalid, or it is stale or for another app.
 */
export type ImReceived =
  | { readonly outcome: 'refused' }
  /** Challenge of our identity, to be answered as given. */
  | { readonly outcome: 'answer'; readonly body: string; readonly type: string }
  /** Acknowledged with `body` once they are on disk. */
  | {
      readonly outcome: 'events';
      readonly events: readonly ImEvent[];
      readonly body?: string;
      readonly type?: string;
    };

export interface ImButton {
  readonly label: string;
  /** Comes back as the text of an action. */
  readonly token?: string;
  /** Leads there instead. */
  readonly url?: string;
  readonly style?: 'primary' | 'danger';
}

/** Outgoing message: text with a little markdown, which the plugin escapes for its platform. */
export interface ImMessage {
  readonly text: string;
  readonly buttons: readonly ImButton[];
  /** The same over all tries to send it: where a platform knows repeats by a key, it is this one. */
  readonly key: string;
  /** An earlier try may have arrived. */
  readonly again: boolean;
}

export type ImSent =
  /** `at`: where it stands, for edits; `id`: by which replies name it; `thread`: where answers to it go. */
  | {
      readonly result: 'sent';
      readonly at: ImTarget;
      readonly id: string;
      readonly thread: ImTarget;
      /** True if it cannot be changed any more: an edit of it is one more message. */
      readonly fixed?: boolean;
    }
  | {
      readonly result: 'retry';
      readonly reason: string;
      readonly after_ms?: number;
      readonly unclear: boolean;
    }
  | { readonly result: 'failed'; readonly reason: string };

export interface ImField {
  readonly name: string;
  readonly label: string;
  /** Choices, the first by default; absent: text. */
  readonly choices?: readonly { readonly label: string; readonly value: string }[];
  readonly lines?: 'one' | 'many';
  readonly optional?: boolean;
}

/** Form that a person fills in. */
export interface ImForm {
  readonly title: string;
  readonly submit: string;
  /** Comes back as the text of an action, with the fields. */
  readonly token: string;
  readonly fields: readonly ImField[];
  /** Target of the answer to it. */
  readonly reply: ImTarget;
}

/** Page of the app for one person. */
export interface ImPage {
  readonly title: string;
  readonly sections: readonly {
    readonly text: string;
    readonly buttons: readonly ImButton[];
  }[];
}

/** Text that is shown below a message for an address of svc in it. */
export interface ImPreview {
  readonly url: string;
  readonly text: string;
}

export interface ImSocket {
  send(data: string | Uint8Array): void;
  /** Undefined: it was closed. */
  next(): Promise<string | Uint8Array | undefined>;
  close(): void;
}

export interface ImPorts {
  readonly fetch: (url: string, request?: OutboundRequest) => Promise<OutboundReply>;
  /** A WebSocket to an address that the platform has named. */
  readonly dial: (url: string, signal: AbortSignal) => Promise<ImSocket>;
  readonly clock: Clock;
}

export interface ImListening {
  readonly signal: AbortSignal;
  /** Resolves once the events are on disk; only then they may be acknowledged. */
  readonly take: (events: readonly ImEvent[]) => Promise<void>;
  /** Called once a connection is established, so that the next failure starts with a short wait. */
  readonly connected: () => void;
  /** Repeats it until it is undone, or this listening ends. */
  readonly every: (ms: number, tick: () => void) => () => unknown;
  /** Cursor of what was read last, kept across restarts; empty at first. */
  readonly cursor: { get(): string; set(cursor: string): void };
}

type Secret = 'app_secret' | 'verify_token' | 'encrypt_key';

/** One chat platform, contributed to `im.platform` under the name by which it stands in addresses. */
export interface ImPlatform {
  readonly title: string;
  /** Secrets that an app requires in each mode that the platform supports. */
  readonly needs: Readonly<Partial<Record<ImMode, readonly Secret[]>>>;
  /**
   * True if anyone who finds the bot can write to it, so that an app without a list of senders is
   * refused.
   */
  readonly allow_list: boolean;
  /** Throws invalid_argument for an app that cannot be one of this platform, without repeating a secret. */
  check(app: ImApp): void;
  /** Max size of the text of one message, in bytes unless `sizeOf` says otherwise; a longer one is sent in parts. */
  readonly max_size: number;
  /** Size of a text as the platform counts it once it is in its own form. */
  sizeOf?(text: string): number;
  /** Rate at which a sent message may be edited while an answer grows; absent if it cannot be. */
  readonly edits?: { readonly every_ms: number; readonly most: number };
  /** Messages to one conversation: set below what the platform allows. */
  readonly pace: { readonly count: number; readonly per_ms: number };
  /**
   * Deduplication by the platform of a message that is sent twice under one key. If `unknown`, an
   * answer is written into a placeholder message that was sent and recorded before, so that a crash
   * leaves no second answer.
   */
  readonly repeats: 'known' | 'unknown';
  receive(app: ImApp, callback: ImCallback): ImReceived;
  send(app: ImApp, target: ImTarget, message: ImMessage, ports: ImPorts): Promise<ImSent>;
  /** Replaces the content of a message; idempotent. */
  edit?(app: ImApp, at: ImTarget, message: ImMessage, ports: ImPorts): Promise<ImSent>;
  /** Fetches a file that a person sent, of at most so many bytes. */
  fetchFile?(app: ImApp, file: ImFile, maxBytes: number, ports: ImPorts): Promise<ImFetched>;
  /**
   * Sends a file. Where it cannot for good, such as for want of a permission, the answer is sent as messages.
   */
  sendFile?(app: ImApp, target: ImTarget, document: ImDocument, ports: ImPorts): Promise<ImSent>;
  /** Messages that an answer may take before it is sent as a file, on a platform that takes files. */
  readonly max_messages?: number;
  /** Sends a picture. Nothing depends on it: what it shows is said in words before. */
  sendPicture?(app: ImApp, target: ImTarget, picture: ImPicture, ports: ImPorts): Promise<ImSent>;
  openForm?(app: ImApp, at: ImTarget, form: ImForm, ports: ImPorts): Promise<ImSent>;
  showPage?(app: ImApp, sender: string, page: ImPage, ports: ImPorts): Promise<ImSent>;
  preview?(
    app: ImApp,
    at: ImTarget,
    previews: readonly ImPreview[],
    ports: ImPorts,
  ): Promise<ImSent>;
  /** Returns the name of a sender, for platforms whose events have ids alone. */
  nameOf?(app: ImApp, sender: string, ports: ImPorts): Promise<string | undefined>;
  /**
   * Returns the target for messages to one person, or to a conversation that an administrator
   * named.
   */
  personTarget(sender: string): ImTarget;
  conversationTarget(conversation: string): ImTarget;
  /** The mode without a public address: until its connection ends. Throwing is trying again later. */
  listen?(app: ImApp, ports: ImPorts, listening: ImListening): Promise<void>;
}

/** Contributions are named by the provider they bring. */
export const ImPlatforms = defineExtensionPoint<ImPlatform>(
  'im.platform',
  {
    type: 'object',
    required: ['title', 'needs', 'max_size', 'pace'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 80 },
      max_size: { type: 'integer', minimum: 200, maximum: 100_000 },
      pace: {
        type: 'object',
        required: ['count', 'per_ms'],
        properties: {
          count: { type: 'integer', minimum: 1, maximum: 1_000 },
          per_ms: { type: 'integer', minimum: 1, maximum: 3_600_000 },
        },
      },
    },
  },
  { methods: ['check', 'receive', 'send', 'personTarget', 'conversationTarget'] },
);
