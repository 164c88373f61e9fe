import { Duplex } from 'node:stream';

import { type ErrorCode, SvcError } from 'svc/sdk';

import { ProtocolViolation } from '../message/frames.ts';
import { quantumBytes } from '../message/limits.ts';
import { ByteQueue } from './byte-queue.ts';
import { errors } from './errors.ts';

/** Functions of the session that a stream uses. */
export interface StreamPort {
  /** Reports that the stream has bytes to send, or its end. */
  ready(stream: TunnelStream): void;
  grant(stream: TunnelStream, bytes: number): void;
  /**
   * Reports that the stream is over on this side; `tell` is sent to the other side unless it knows.
   */
  over(stream: TunnelStream, tell: SvcError | undefined): void;
}

type Done = (error?: Error | null) => void;

/** Max credit that can be owed. */
const maxCredit = 16 * 1024 * 1024;

/** A duplex of bytes through the tunnel: a Node stream, whose back-pressure reaches the writer at the other end. */
export class TunnelStream extends Duplex {
  readonly id: number;
  readonly service: string;
  /** Unread bytes that the other side may send. */
  readonly window: number;
  readonly #port: StreamPort;
  readonly #unread = new ByteQueue();
  readonly #unsent = new ByteQueue();
  #wanted = false;
  /** Open part of the window, and what was read of it but not granted again. */
  #open: number;
  #owed = 0;
  #credit = 0;
  #accepted = false;
  #written: Done | undefined;
  #finished: Done | undefined;
  #finSent = false;
  #finSeen = false;
  /** True if the other side knows that it is over. */
  #known = false;
  #resetWith: SvcError | undefined;

  constructor(port: StreamPort, id: number, service: string, window: number) {
    super({ readableHighWaterMark: quantumBytes, writableHighWaterMark: 4 * quantumBytes });
    this.#port = port;
    this.id = id;
    this.service = service;
    this.window = window;
    this.#open = window;
    // A connection may end before its owner listens; 'close' reports it as well.
    this.on('error', () => undefined);
  }

  /** Ends both directions at once; the other side's stream is destroyed with this error. */
  reset(code: ErrorCode = 'unavailable', message = 'the stream was closed'): void {
    this.#resetWith ??= new SvcError(code, message);
    this.destroy();
  }

  /** Bytes that the other side may still have in flight to us. */
  get open(): number {
    return this.#open;
  }

  accept(credit: number): void {
    this.#accepted = true;
    this.credit(credit);
  }

  get accepted(): boolean {
    return this.#accepted;
  }

  credit(bytes: number): void {
    this.#credit += bytes;
    if (bytes === 0 || this.#credit > maxCredit) {
      throw new ProtocolViolation(`${bytes} bytes of credit`);
    }
    this.#port.ready(this);
  }

  get sendable(): boolean {
    return (
      this.#accepted &&
      !this.destroyed &&
      (this.#unsent.length > 0 ? this.#credit > 0 : this.#finished !== undefined)
    );
  }

  /** Returns what to send now: bytes, or (undefined) the end. */
  next(): Buffer | undefined {
    if (this.#unsent.length === 0) {
      this.#finSent = true;
      return undefined;
    }
    const bytes = this.#unsent.take(Math.min(quantumBytes, this.#credit));
    this.#credit -= bytes.length;
    return bytes;
  }

  /** Lets the writer continue once the result of `next` is in flight. */
  sent(): void {
    if (this.#unsent.length === 0) {
      const done = this.#written ?? (this.#finSent ? this.#finished : undefined);
      this.#written = undefined;
      if (this.#finSent) {
        this.#finished = undefined;
      }
      done?.();
    }
  }

  receive(bytes: Buffer): void {
    if (bytes.length > this.#open || this.#finSeen) {
      throw new ProtocolViolation(
        this.#finSeen ? 'data after the end of a stream' : 'data beyond the window of a stream',
      );
    }
    this.#open -= bytes.length;
    this.#unread.push(bytes);
    this.#pass();
  }

  receiveEnd(): void {
    if (this.#finSeen) {
      throw new ProtocolViolation('a second end of a stream');
    }
    this.#finSeen = true;
    this.#pass();
  }

  /** The other side has given it up, or the connection is gone. */
  abandon(error: SvcError): void {
    this.#known = true;
    this.destroy(error);
  }

  override _read(): void {
    this.#wanted = true;
    this.#pass();
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.#unsent.push(chunk);
    this.#written = done;
    this.#port.ready(this);
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    for (const { chunk } of chunks) {
      this.#unsent.push(chunk);
    }
    this.#written = done;
    this.#port.ready(this);
  }

  override _final(done: Done): void {
    this.#finished = done;
    this.#port.ready(this);
  }

  override _destroy(error: Error | null, done: Done): void {
    const ended = this.#known || (this.#finSent && this.#finSeen);
    this.#port.over(this, ended ? undefined : (this.#resetWith ?? errors.stream_closed()));
    this.#unread.clear();
    this.#unsent.clear();
    const waiting = this.#written ?? this.#finished;
    this.#written = undefined;
    this.#finished = undefined;
    waiting?.(error ?? this.#resetWith ?? errors.stream_closed());
    done(error);
  }

  #pass(): void {
    while (this.#wanted && this.#unread.length > 0 && !this.destroyed) {
      const bytes = this.#unread.take(4 * quantumBytes);
      this.#wanted = this.push(bytes);
      this.#taken(bytes.length);
    }
    if (this.#finSeen && this.#unread.length === 0 && this.#wanted) {
      this.#wanted = false;
      this.push(null);
    }
  }

  /** Grants again what the reader took, a quarter of the window at a time. */
  #taken(bytes: number): void {
    this.#owed += bytes;
    if (this.#owed * 4 >= this.window && !this.#finSeen && !this.destroyed) {
      const granted = this.#owed;
      this.#owed = 0;
      this.#open += granted;
      this.#port.grant(this, granted);
    }
  }
}
