import { isSvcError, messageOf } from 'svc/sdk';

import { type Body, parseBody } from '../message/body.ts';
import {
  decodeFrame,
  encodeFrame,
  type Frame,
  type FrameType,
  frameType,
  ProtocolViolation,
} from '../message/frames.ts';
import { closeCode } from '../message/limits.ts';
import type { Sweeper } from '../message/sweeper.ts';
import { type Inbox, inboxOf, type MessageTransport } from '../message/transport.ts';
import { readGoAway, writeGoAway } from '../session/go-away.ts';
import { errors } from './errors.ts';
import { isRefusal, TunnelRefusal } from './hello.ts';

export interface ExchangeOptions {
  readonly sweeper: Sweeper;
  readonly timeoutMs: number;
  /** Bytes that the other side may send in all. */
  readonly maxBytes: number;
}

const maxDepth = 4;
/** Time for the other side to read why it was refused. */
const closeMs = 2_000;

/**
 * Performs a handshake in turns with time limits. Any failure ends the connection, and is thrown as
 * a TunnelRefusal.
 */
export async function exchange<R>(
  transport: MessageTransport,
  options: ExchangeOptions,
  work: (turns: Turns) => Promise<R>,
): Promise<R> {
  const turns = new Turns(transport, options);
  const cancelDeadline = options.sweeper.after(options.timeoutMs, () =>
    turns.fail(new TunnelRefusal(closeCode.silent, 'the handshake took too long')),
  );
  try {
    const result = await work(turns);
    turns.finish();
    return result;
  } catch (error) {
    const refusal = refusalFrom(error);
    turns.refuse(refusal);
    throw refusal;
  } finally {
    cancelDeadline();
  }
}

/** The frames of one handshake, sent and received in turn. */
export class Turns {
  readonly #transport: MessageTransport;
  readonly #options: ExchangeOptions;
  readonly #inbox: Inbox;
  readonly #arrived: Frame[] = [];
  #wake: (() => void) | undefined;
  #failure: Error | undefined;
  #gone = false;
  #bytes = 0;

  constructor(transport: MessageTransport, options: ExchangeOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#inbox = inboxOf(transport);
  }

  send(type: FrameType, body: string): void {
    this.#transport.send(encodeFrame(type, 0, body));
  }

  /** The next frame, which must be of this type. */
  async receive(type: FrameType): Promise<{ readonly frame: Frame; readonly body: Body }> {
    const frame = await this.#next();
    const body = parseBody(frame.payload, maxDepth);
    if (frame.type === frameType.goAway) {
      const { code, message, retry } = readGoAway(body);
      throw new TunnelRefusal(code, message, retry);
    }
    if (frame.type !== type) {
      throw new ProtocolViolation(`a frame of type ${frame.type} where ${type} was due`);
    }
    return { frame, body };
  }

  fail(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(messageOf(error));
    this.#wake?.();
  }

  /** Leaves further messages to the session; throws any failure in the meantime. */
  finish(): void {
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
    this.#inbox.release();
  }

  /** Sends the reason, and ends the connection once that was read or the time is over. */
  refuse(refusal: TunnelRefusal): void {
    if (this.#gone) {
      return;
    }
    const giveUp = this.#options.sweeper.after(closeMs, () => this.#transport.terminate());
    this.#inbox.take(() => undefined, giveUp);
    this.send(
      frameType.goAway,
      writeGoAway({ code: refusal.closeCode, message: refusal.message }, refusal.retry),
    );
    this.#transport.close(refusal.closeCode, refusal.message.slice(0, 100));
  }

  async #next(): Promise<Frame> {
    this.#listen();
    let frame = this.#arrived.shift();
    while (!frame) {
      if (this.#failure) {
        throw this.#failure;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
      frame = this.#arrived.shift();
    }
    return frame;
  }

  /** One frame at a time: what follows the last one is for the session. */
  #listen(): void {
    this.#inbox.take(
      (message) => this.#receiveMessage(message),
      (code, reason) => {
        this.#gone = true;
        this.fail(
          new TunnelRefusal(
            code,
            reason === '' ? 'the connection ended during the handshake' : reason,
          ),
        );
      },
    );
  }

  #receiveMessage(message: string | Uint8Array): void {
    this.#inbox.release();
    this.#bytes += message.length;
    try {
      if (this.#bytes > this.#options.maxBytes) {
        throw new ProtocolViolation(
          `more than ${this.#options.maxBytes} bytes before the end of the handshake`,
        );
      }
      const frame = decodeFrame(message);
      if (!frame) {
        throw new ProtocolViolation('a frame to be skipped in the handshake');
      }
      this.#arrived.push(frame);
      this.#wake?.();
    } catch (error) {
      this.fail(error);
    }
  }
}

function refusalFrom(error: unknown): TunnelRefusal {
  if (isRefusal(error)) {
    return error;
  }
  if (error instanceof ProtocolViolation) {
    return new TunnelRefusal(closeCode.protocol, error.message);
  }
  const shown = isSvcError(error) ? error : errors.handshake_failed({ cause: error });
  const refusal = new TunnelRefusal(closeCode.unavailable, shown.message);
  refusal.cause = error;
  return refusal;
}
