import type { SvcError } from 'svc/sdk';
import { isSvcError, messageOf } from 'svc/sdk';

import { type Body, errorBody, errorFrom, text, whole } from '../message/body.ts';
import { type Frame, frameType, ProtocolViolation } from '../message/frames.ts';
import { quantumBytes } from '../message/limits.ts';
import type { Cancel } from '../message/sweeper.ts';
import { errors } from './errors.ts';
import { type StreamPort, TunnelStream } from './stream.ts';
import type { Wire } from './wire.ts';

interface Opening {
  readonly resolve: (stream: TunnelStream) => void;
  readonly reject: (error: unknown) => void;
  readonly cancel: Cancel;
}

const maxWindow = 16 * 1024 * 1024;

/** The streams of one session, and whose turn it is to send. */
export class StreamTable implements StreamPort {
  readonly #wire: Wire;
  readonly #streams = new Map<number, TunnelStream>();
  readonly #openings = new Map<number, Opening>();
  /** Streams that could send now, in the order of their turns. */
  readonly #turns = new Set<TunnelStream>();
  /** Windows of all streams together. */
  #reserved = 0;
  /** Bytes that may still arrive for streams that this side has abandoned. */
  #stale = 0;
  #pumping = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  get size(): number {
    return this.#streams.size;
  }

  open(service: string, meta: unknown, timeoutMs: number): Promise<TunnelStream> {
    const { limits, peer, options } = this.#wire;
    if (this.#streams.size >= limits.streams) {
      throw errors.too_many_streams({ streams: limits.streams, peer });
    }
    const stream = this.#create(this.#wire.nextId(), service);
    const body = JSON.stringify({ s: service, m: meta, w: stream.window });
    if (Buffer.byteLength(body) > limits.bodyBytes) {
      const error = errors.open_too_large();
      stream.abandon(error);
      throw error;
    }
    return new Promise((resolve, reject) => {
      const cancel = options.sweeper.after(timeoutMs, () =>
        stream.reset('unavailable', `${peer} did not open ${service} within ${timeoutMs} ms`),
      );
      this.#openings.set(stream.id, { resolve, reject, cancel });
      stream.once('close', () => {
        const error = stream.errored;
        this.#opened(stream)?.reject(error ?? errors.no_opening({ peer, service, timeoutMs }));
      });
      this.#wire.send(frameType.open, stream.id, body);
    });
  }

  hearOpen(id: number, body: Body): void {
    const service = text(body, 's', 128);
    const credit = whole(body, 'w', 1, maxWindow);
    const { options, limits, session } = this.#wire;
    const handle = options.handlers?.services?.get(service);
    if (!handle) {
      this.#tell(id, errors.no_service({ service }));
      return;
    }
    if (this.#streams.size >= limits.streams || !session.live) {
      this.#tell(id, errors.busy_streams({ streams: limits.streams }, { retryAfterSeconds: 1 }));
      return;
    }
    const stream = this.#create(id, service);
    const accepted = async (): Promise<void> => {
      await handle(stream, body['m'], session);
      if (!stream.destroyed) {
        this.#wire.sendCredit(id, stream.window);
        stream.accept(credit);
      }
    };
    accepted().catch((error: unknown) => {
      if (!isSvcError(error)) {
        options.log.error(
          {
            event: 'tunnel.service_failed',
            tunnel: options.label,
            service,
            cause: messageOf(error),
          },
          'stream service threw; stream reset',
        );
      }
      const shown = errorFrom(errorBody(error));
      stream.reset(shown.code, shown.message);
    });
  }

  /**
   * Handles frames of ended streams, which are late and harmless; their bytes are counted to bound
   * them.
   */
  hear(frame: Frame, parse: () => Body): void {
    const stream = this.#streams.get(frame.id);
    switch (frame.type) {
      case frameType.data:
        if (stream) {
          stream.receive(frame.payload);
          return;
        }
        this.#stale -= frame.n;
        if (this.#stale < 0) {
          throw new ProtocolViolation('data for a closed stream');
        }
        return;
      case frameType.credit:
        return stream && this.#credit(stream, frame.n);
      case frameType.fin:
        return stream?.receiveEnd();
      case frameType.reset:
        return stream?.abandon(errorFrom(parse()));
      default:
        throw new ProtocolViolation(`a frame of type ${frame.type} for a stream`);
    }
  }

  /** Sends as much as the connection takes, each stream in its turn. */
  pump(): void {
    if (this.#pumping) {
      return;
    }
    this.#pumping = true;
    try {
      while (this.#wire.bufferedBytes < this.#wire.limits.dataBytes) {
        const { value: stream } = this.#turns.values().next();
        if (!stream) {
          return;
        }
        this.#turns.delete(stream);
        if (stream.sendable) {
          const bytes = stream.next();
          this.#wire.send(bytes ? frameType.data : frameType.fin, stream.id, bytes);
          stream.sent();
          this.ready(stream);
        }
      }
    } finally {
      this.#pumping = false;
    }
  }

  ready(stream: TunnelStream): void {
    if (stream.sendable) {
      this.#turns.add(stream);
      this.pump();
    }
  }

  grant(stream: TunnelStream, bytes: number): void {
    this.#wire.sendCredit(stream.id, bytes);
  }

  over(stream: TunnelStream, tell: SvcError | undefined): void {
    this.#streams.delete(stream.id);
    this.#turns.delete(stream);
    this.#reserved -= stream.window;
    if (tell) {
      this.#stale += stream.open;
      this.#tell(stream.id, tell);
    }
    this.#wire.settled();
  }

  fail(error: SvcError): void {
    for (const stream of [...this.#streams.values()]) {
      stream.abandon(error);
    }
  }

  #credit(stream: TunnelStream, bytes: number): void {
    if (stream.accepted) {
      stream.credit(bytes);
      return;
    }
    const opening = this.#opened(stream);
    if (!opening) {
      throw new ProtocolViolation('credit for a stream that is not accepted');
    }
    stream.accept(bytes);
    opening.resolve(stream);
  }

  #opened(stream: TunnelStream): Opening | undefined {
    const opening = this.#openings.get(stream.id);
    this.#openings.delete(stream.id);
    opening?.cancel();
    return opening;
  }

  #create(id: number, service: string): TunnelStream {
    const { limits } = this.#wire;
    // A quantum is kept for every stream that may still come.
    const kept = (limits.streams - this.#streams.size - 1) * quantumBytes;
    const window = Math.max(
      quantumBytes,
      Math.min(limits.streamWindow, limits.sessionWindow - this.#reserved - kept),
    );
    const stream = new TunnelStream(this, id, service, window);
    this.#reserved += window;
    this.#streams.set(id, stream);
    return stream;
  }

  #tell(id: number, error: SvcError): void {
    this.#wire.send(frameType.reset, id, JSON.stringify(errorBody(error)));
  }
}
