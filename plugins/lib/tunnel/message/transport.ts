/** Whole messages over one connection. `Socket` of a socket route is one, and what `dial` returns. */
export interface MessageTransport {
  /** Bytes given to `send` that the system has not taken yet. */
  readonly bufferedBytes: number;
  send(data: Uint8Array): void;
  close(code?: number, reason?: string): void;
  /** Ends the connection without a word. */
  terminate(): void;
  onMessage(listener: (data: string | Uint8Array) => void): void;
  onClose(listener: (code: number, reason: string) => void): void;
  /** Registers a listener for each time the system has accepted some of it. */
  onDrain(listener: () => void): void;
}

type Message = string | Uint8Array;

/** Messages that may wait while nobody listens: between the proof and the session. */
const maxWaiting = 64;

/** Inbox of a transport, for its current owner: first the handshake, then the session. */
export class Inbox {
  readonly transport: MessageTransport;
  #listener: ((message: Message) => void) | undefined;
  #waiting: Message[] = [];
  #onClose: ((code: number, reason: string) => void) | undefined;
  #ended: { code: number; reason: string } | undefined;

  constructor(transport: MessageTransport) {
    this.transport = transport;
    transport.onMessage((message) => {
      if (this.#listener) {
        this.#listener(message);
      } else if (this.#waiting.length < maxWaiting) {
        this.#waiting.push(message);
      } else {
        transport.terminate();
      }
    });
    transport.onClose((code, reason) => {
      this.#ended = { code, reason };
      this.#onClose?.(code, reason);
    });
  }

  /** Delivers messages and the end to these callbacks; immediately, if any arrived before. */
  take(
    listener: (message: Message) => void,
    onClose: (code: number, reason: string) => void,
  ): void {
    this.#listener = listener;
    this.#onClose = onClose;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) {
      // A listener may have released the inbox, or passed it to another.
      if (this.#listener === undefined) {
        this.#waiting.push(message);
      } else {
        this.#listener(message);
      }
    }
    if (this.#ended) {
      this.#onClose?.(this.#ended.code, this.#ended.reason);
    }
  }

  /** Buffers what arrives until the next `take`. */
  release(): void {
    this.#listener = undefined;
    this.#onClose = undefined;
  }
}

const inboxes = new WeakMap<MessageTransport, Inbox>();

/** The one inbox of a transport. */
export function inboxOf(transport: MessageTransport): Inbox {
  let inbox = inboxes.get(transport);
  if (!inbox) {
    inbox = new Inbox(transport);
    inboxes.set(transport, inbox);
  }
  return inbox;
}
