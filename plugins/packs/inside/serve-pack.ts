import { Socket } from 'node:net';
import { deserialize } from 'node:v8';

import { isSvcError, messageOf } from 'svc/sdk';

import { frame, frameReader } from '../frames.ts';
import { channelFd, type FromChild, type ToChild, type WireError } from '../wire.ts';
import { closeCage } from './cage.ts';
import { HostSide } from './host-side.ts';
import { evaluatePack, type PackCode } from './pack-code.ts';

/** The host is trusted; this only keeps a broken frame from being taken for a length. */
const maxFrameBytes = 256 * 1024 * 1024;

/** Runs the code of one pack in this process, which must be restricted, and answers the host until it is gone. */
export function servePack(): void {
  requireRestrictions();
  new PackServer(new Socket({ fd: channelFd }));
}

/**
 * The first thing a child does. Where the flags got lost (a single binary ignores them on its command line) the code of a
 * stranger would run with every right of the host, so without the restrictions nothing runs at all.
 */
function requireRestrictions(): void {
  if ((process.permission as { has(scope: string): boolean } | undefined)?.has('fs.write') !== false) {
    process.stderr.write('refused to run: the permission model is off in this process, so nothing holds the code back\n');
    process.exit(78);
  }
}

class PackServer {
  readonly #channel: Socket;
  readonly #running = new Map<number, AbortController>();
  readonly #host = new HostSide((ask) => this.#say(ask));
  #pack: PackCode | undefined;
  #maxPayloadBytes = 0;

  constructor(channel: Socket) {
    this.#channel = channel;
    // Whatever happened to the host, there is no work left.
    channel.on('close', () => process.exit(0));
    channel.on('error', () => process.exit(0));
    channel.on(
      'data',
      frameReader(
        maxFrameBytes,
        (body) => void this.#hear(deserialize(body) as ToChild),
        () => process.exit(76),
      ),
    );
  }

  async #hear(message: ToChild): Promise<void> {
    switch (message.t) {
      case 'load':
        return await this.#load(message);
      case 'call':
        return await this.#answer(message);
      case 'cancel':
        return this.#running.get(message.id)?.abort();
      case 'setting':
        return this.#host.changed(message.key, message.value);
      case 'answer':
        return this.#host.hear(message);
      case 'ping':
        return this.#say({ t: 'pong' });
    }
  }

  async #load(message: ToChild & { t: 'load' }): Promise<void> {
    this.#maxPayloadBytes = message.maxPayloadBytes;
    try {
      closeCage(this.#channel, message);
      this.#host.settle(message.settings);
      this.#pack = evaluatePack(message, this.#host.context);
      if (message.start) {
        await this.#pack.start();
      }
      this.#say({ t: 'started' });
    } catch (error) {
      this.#say({ t: 'not-started', error: wireError(error) });
    }
  }

  async #answer({ id, method, input }: ToChild & { t: 'call' }): Promise<void> {
    const stop = new AbortController();
    this.#running.set(id, stop);
    try {
      this.#reply(id, await this.#pack?.invoke(method, input, stop.signal));
    } catch (error) {
      this.#say({ t: 'reply', id, error: wireError(error) });
    } finally {
      this.#running.delete(id);
    }
  }

  #reply(id: number, value: unknown): void {
    const body = JSON.stringify(value) ?? 'null';
    if (Buffer.byteLength(body) > this.#maxPayloadBytes) {
      throw new Error(`the answer has ${Buffer.byteLength(body)} bytes, ${this.#maxPayloadBytes} are allowed`);
    }
    this.#write(`{"t":"reply","id":${id},"value":${body}}`);
  }

  #say(message: FromChild): void {
    this.#write(JSON.stringify(message));
  }

  #write(text: string): void {
    this.#channel.write(frame(Buffer.from(text)));
  }
}

/** An error as the host hears it; what its author needs beyond that goes to the log of the child. */
function wireError(error: unknown): WireError {
  if (isSvcError(error)) {
    return { code: error.code, message: error.message };
  }
  process.stderr.write(`${(error instanceof Error && error.stack) || messageOf(error)}\n`);
  return { code: 'internal', message: messageOf(error) };
}
