import { isSvcError, messageOf, SvcError } from 'svc/sdk';
import { type Body, parseBody } from './body.ts';
import { decodeFrame, encodeFrame, type Frame, type FrameType, frameType, ProtocolViolation } from './frames.ts';
import { readGoAway, writeGoAway } from './go-away.ts';
import { isRefusal, TunnelRefusal } from './hello.ts';
import { closeCode } from './limits.ts';
import type { Sweeper } from './sweeper.ts';
import { inboxOf, type MessageTransport } from './transport.ts';

export interface ExchangeOptions {
  readonly sweeper: Sweeper;
  readonly timeoutMs: number;
  /** Bytes that the other side may send in all. */
  readonly mostBytes: number;
}

export interface Turns {
  say(type: FrameType, body: string): void;
  /** The next frame, which must be of this type. */
  hear(type: FrameType): Promise<{ readonly frame: Frame; readonly body: Body }>;
}

const mostDepth = 4;
/** How long the other side may take to read why it was refused. */
const closeMs = 2_000;

/** A conversation in turns that must end in time. Whatever goes wrong in it ends the connection, and is thrown as a TunnelRefusal. */
export async function exchange<R>(transport: MessageTransport, options: ExchangeOptions, work: (turns: Turns) => Promise<R>): Promise<R> {
  const inbox = inboxOf(transport);
  const arrived: Frame[] = [];
  let wake: (() => void) | undefined;
  let failure: Error | undefined;
  let gone = false;
  let bytes = 0;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(messageOf(error));
    wake?.();
  };
  const late = options.sweeper.after(options.timeoutMs, () => fail(new TunnelRefusal(closeCode.silent, 'the handshake took too long')));

  /** One frame at a time: what follows the last one is for the session. */
  const listen = (): void =>
    inbox.take(
      (message) => {
        inbox.release();
        bytes += message.length;
        try {
          if (bytes > options.mostBytes) {
            throw new ProtocolViolation(`more than ${options.mostBytes} bytes before the end of the handshake`);
          }
          const frame = decodeFrame(message);
          if (!frame) {
            throw new ProtocolViolation('a frame to be skipped in the handshake');
          }
          arrived.push(frame);
          wake?.();
        } catch (error) {
          fail(error);
        }
      },
      (code, reason) => {
        gone = true;
        fail(new TunnelRefusal(code, reason === '' ? 'the connection ended during the handshake' : reason));
      },
    );

  const turns: Turns = {
    say: (type, body) => transport.send(encodeFrame(type, 0, body)),
    async hear(type) {
      listen();
      let frame = arrived.shift();
      while (!frame) {
        if (failure) {
          throw failure;
        }
        await new Promise<void>((resolve) => (wake = resolve));
        frame = arrived.shift();
      }
      const body = parseBody(frame.payload, mostDepth);
      if (frame.type === frameType.goAway) {
        const { code, message, retry } = readGoAway(body);
        throw new TunnelRefusal(code, message, retry);
      }
      if (frame.type !== type) {
        throw new ProtocolViolation(`a frame of type ${frame.type} where ${type} was due`);
      }
      return { frame, body };
    },
  };

  try {
    const result = await work(turns);
    if (failure !== undefined) {
      throw failure;
    }
    inbox.release();
    return result;
  } catch (error) {
    const refusal = refusalFrom(error);
    if (!gone) {
      const giveUp = options.sweeper.after(closeMs, () => transport.terminate());
      inbox.take(() => undefined, giveUp);
      transport.send(encodeFrame(frameType.goAway, 0, writeGoAway({ code: refusal.closeCode, message: refusal.message }, refusal.retry)));
      transport.close(refusal.closeCode, refusal.message.slice(0, 100));
    }
    throw refusal;
  } finally {
    late();
  }
}

function refusalFrom(error: unknown): TunnelRefusal {
  if (isRefusal(error)) {
    return error;
  }
  if (error instanceof ProtocolViolation) {
    return new TunnelRefusal(closeCode.protocol, error.message);
  }
  const told = isSvcError(error) ? error : new SvcError('unavailable', 'the handshake failed inside', { cause: error });
  const refusal = new TunnelRefusal(closeCode.unavailable, told.message);
  refusal.cause = error;
  return refusal;
}
