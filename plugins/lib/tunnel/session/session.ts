import { messageOf } from 'svc/sdk';

import { type Body, parseBody } from '../message/body.ts';
import {
  decodeFrame,
  encodeCredit,
  encodeFrame,
  type Frame,
  type FrameType,
  frameType,
  ProtocolViolation,
} from '../message/frames.ts';
import {
  closeCode,
  closeMs,
  defaultTunnelLimits,
  lastId,
  type TunnelLimits,
  usualGraceMs,
} from '../message/limits.ts';
import { inboxOf, type MessageTransport } from '../message/transport.ts';
import { InboundCalls } from './calls-in.ts';
import { OutboundCalls } from './calls-out.ts';
import type {
  CallOptions,
  GoAwayOptions,
  GoAwayReason,
  SessionEnd,
  SessionOptions,
  SessionStats,
  Side,
  TunnelSession,
} from './contract.ts';
import { errors } from './errors.ts';
import { Events } from './events.ts';
import { readGoAway, writeGoAway } from './go-away.ts';
import { Liveness } from './liveness.ts';
import type { TunnelStream } from './stream.ts';
import { StreamTable } from './streams.ts';
import type { Wire } from './wire.ts';

/** Opens a session on a transport whose two sides have authenticated. */
export const openSession = (transport: MessageTransport, options: SessionOptions): TunnelSession =>
  new Session(transport, options);

/** Idle ones are many, so what only a busy one needs is made when it is needed. */
class Session implements TunnelSession, Wire {
  readonly options: SessionOptions;
  readonly limits: TunnelLimits;
  readonly closed: Promise<SessionEnd>;
  readonly #transport: MessageTransport;
  readonly #openedAt: number;
  readonly #liveness: Liveness;
  #resolveClosed!: (end: SessionEnd) => void;
  #lastOwnId: number;
  #lastPeerId = 0;
  #asked: OutboundCalls | undefined;
  #answering: InboundCalls | undefined;
  #streams: StreamTable | undefined;
  #events: Events | undefined;
  #bytesIn = 0;
  #bytesOut = 0;
  /** True once the transport reports when it has drained. */
  #isTold = false;
  #leaving: { code: number; message: string } | undefined;
  #retry: SessionEnd['retry'];
  #end: { code: number; reason: string } | undefined;

  constructor(transport: MessageTransport, options: SessionOptions) {
    this.options = options;
    this.limits = options.limits
      ? { ...defaultTunnelLimits, ...options.limits }
      : defaultTunnelLimits;
    this.#transport = transport;
    this.#openedAt = options.sweeper.clock.monotonic();
    this.#lastOwnId = options.side === 'manager' ? 0 : -1;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#liveness = new Liveness(this, (reason) => this.#finish(closeCode.silent, reason, true));
    inboxOf(transport).take(
      (message) => this.#hear(message),
      (code, reason) => this.#gone(code, reason),
    );
  }

  get session(): TunnelSession {
    return this;
  }

  get side(): Side {
    return this.options.side;
  }

  get peer(): string {
    return this.options.side === 'manager' ? 'the edge' : 'the manager';
  }

  get live(): boolean {
    return this.#end === undefined;
  }

  get bufferedBytes(): number {
    return this.#end ? Infinity : this.#transport.bufferedBytes;
  }

  get stats(): SessionStats {
    return {
      openedAt: this.#openedAt,
      lastHeardAt: this.#liveness.lastHeardAt,
      rttMs: this.#liveness.rttMs,
      callsOut: this.#asked?.size ?? 0,
      callsIn: this.#answering?.size ?? 0,
      streams: this.#streams?.size ?? 0,
      droppedEvents: this.#events?.dropped ?? 0,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
    };
  }

  /** No async function, which would be two promises more: a whole fleet may be asked at once. */
  call<R>(method: string, params: unknown, options: CallOptions): Promise<R> {
    try {
      this.#requireOpen();
      this.#asked ??= new OutboundCalls(this);
      return this.#asked.ask(method, params, options) as Promise<R>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  emit(event: string, payload: unknown): boolean {
    return (this.#events ??= new Events(this)).emit(event, payload);
  }

  async open(
    service: string,
    meta: unknown,
    { timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {},
  ): Promise<TunnelStream> {
    this.#requireOpen();
    this.#streams ??= new StreamTable(this);
    return this.#streams.open(service, meta, timeoutMs);
  }

  pingEvery(ms: number, missedPings: number): void {
    if (this.live) {
      this.#liveness.pingEvery(ms, missedPings);
    }
  }

  goAway(reason: GoAwayReason, options: GoAwayOptions): void {
    if (this.#end || this.#leaving) {
      return;
    }
    this.#leaving = reason;
    this.send(
      frameType.goAway,
      0,
      writeGoAway(reason, { minMs: options.retryMinMs, maxMs: options.retryMaxMs }),
    );
    this.options.sweeper.after(options.graceMs ?? usualGraceMs, () =>
      this.#finish(reason.code, reason.message),
    );
    this.settled();
  }

  close(code: number = closeCode.normal, reason = ''): Promise<SessionEnd> {
    this.#finish(code, reason);
    return this.closed;
  }

  nextId(): number {
    this.#lastOwnId += 2;
    if (this.#lastOwnId >= lastId) {
      this.#finish(closeCode.restart, 'this connection has used up its ids');
      throw errors.reconnecting({ retryAfterSeconds: 1 });
    }
    return this.#lastOwnId;
  }

  send(type: FrameType, id: number, payload?: Uint8Array | string, flags?: number): void {
    this.#put(encodeFrame(type, id, payload, flags));
  }

  sendCredit(id: number, bytes: number): void {
    this.#put(encodeCredit(id, bytes));
  }

  settled(): void {
    // Most tunnels are idle most of the time: the state for calls takes half a kilobyte.
    if (this.#asked?.size === 0) {
      this.#asked = undefined;
    }
    if (this.#answering?.size === 0) {
      this.#answering = undefined;
    }
    if (
      this.#leaving &&
      !this.#end &&
      !this.#asked?.size &&
      !this.#answering?.size &&
      !this.#streams?.size
    ) {
      this.#finish(this.#leaving.code, this.#leaving.message);
    }
  }

  violated(error: unknown): void {
    const cause = messageOf(error);
    this.options.log.warn(
      { event: 'tunnel.protocol_violation', tunnel: this.options.label, cause },
      'protocol violation by peer; tunnel closed',
    );
    if (!this.#end) {
      this.send(
        frameType.goAway,
        0,
        writeGoAway({ code: closeCode.protocol, message: cause }, undefined),
      );
      this.#finish(closeCode.protocol, cause);
    }
  }

  #put(frame: Buffer): void {
    if (this.#end) {
      return;
    }
    this.#bytesOut += frame.length;
    // A callback for each sent message costs as much as sending it, and most tunnels are never near
    // a limit.
    if (!this.#isTold && this.#transport.bufferedBytes + frame.length > this.limits.dataBytes / 2) {
      this.#isTold = true;
      this.#transport.onDrain(() => {
        this.#liveness.drained();
        this.#streams?.pump();
      });
    }
    this.#transport.send(frame);
    const { bufferedBytes } = this.#transport;
    if (bufferedBytes > this.limits.highBytes) {
      this.#liveness.crowded(bufferedBytes);
    }
  }

  #requireOpen(): void {
    if (this.#end || this.#leaving) {
      throw (this.#end ? errors.connection_over : errors.connection_ending)({ peer: this.peer });
    }
  }

  #hear(message: string | Uint8Array): void {
    if (this.#end) {
      return;
    }
    this.#bytesIn += message.length;
    this.#liveness.heard();
    try {
      const frame = decodeFrame(message);
      if (frame) {
        this.#take(frame);
      }
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) {
        this.options.log.error(
          { event: 'tunnel.frame_failed', tunnel: this.options.label, cause: messageOf(error) },
          'failed to process a frame',
        );
      }
      this.violated(
        error instanceof ProtocolViolation
          ? error
          : new ProtocolViolation('a frame could not be processed'),
      );
    }
  }

  #take(frame: Frame): void {
    const { id } = frame;
    const body = (): Body => parseBody(frame.payload, this.limits.jsonDepth);
    switch (frame.type) {
      case frameType.ping:
        this.#liveness.pinged();
        return this.send(frameType.pong, 0);
      case frameType.pong:
        return this.#liveness.ponged();
      case frameType.event:
        return (this.#events ??= new Events(this)).hear(frame.payload);
      case frameType.goAway:
        return this.#hearGoAway(body());
      case frameType.request:
        this.#fresh(id);
        return (this.#answering ??= new InboundCalls(this)).hear(id, body());
      case frameType.open:
        this.#fresh(id);
        return (this.#streams ??= new StreamTable(this)).hearOpen(id, body());
      case frameType.response:
        this.#used(id, true);
        return this.#asked?.hear(id, frame.error, body());
      case frameType.cancel:
        this.#used(id, false);
        return this.#answering?.cancel(id);
      case frameType.data:
      case frameType.credit:
      case frameType.fin:
      case frameType.reset:
        this.#used(id, (id & 1) === (this.#lastOwnId & 1));
        return (this.#streams ??= new StreamTable(this)).hear(frame, body);
      default:
        throw new ProtocolViolation(`a frame of type ${frame.type} after the handshake`);
    }
  }

  /** Ids of the other side grow, and have its parity. */
  #fresh(id: number): void {
    if ((id & 1) === (this.#lastOwnId & 1) || id <= this.#lastPeerId) {
      throw new ProtocolViolation(`id ${id} is not a new one of this side`);
    }
    this.#lastPeerId = id;
  }

  #used(id: number, own: boolean): void {
    const sameParity = (id & 1) === (this.#lastOwnId & 1);
    if (sameParity !== own || id > (own ? this.#lastOwnId : this.#lastPeerId)) {
      throw new ProtocolViolation(`nothing has the id ${id}`);
    }
  }

  #hearGoAway(body: Body): void {
    const { code, message, retry } = readGoAway(body);
    this.#leaving ??= { code, message };
    this.#retry = retry;
    this.settled();
  }

  /** Ends the session; nothing is sent or received any more. */
  #finish(code: number, reason: string, cut = false): void {
    if (this.#end) {
      return;
    }
    this.#end = { code, reason };
    this.#liveness.stop();
    const error = errors.connection_ended({
      peer: this.peer,
      detail: reason === '' ? '' : `: ${reason}`,
    });
    this.#asked?.fail(error);
    this.#answering?.fail(error);
    this.#streams?.fail(error);
    if (cut) {
      this.#transport.terminate();
    } else {
      this.#transport.close(code, reason.slice(0, 100));
    }
    const giveUp = this.options.sweeper.after(closeMs, () => {
      this.#transport.terminate();
      this.#resolve();
    });
    void this.closed.then(giveUp);
  }

  #gone(code: number, reason: string): void {
    this.#finish(code, reason, true);
    this.#resolve();
  }

  #resolve(): void {
    const upMs = this.options.sweeper.clock.monotonic() - this.#openedAt;
    this.#resolveClosed({ ...this.#end!, retry: this.#retry, upMs });
  }
}
