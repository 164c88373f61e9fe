import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { deserialize } from 'node:v8';

import { isSvcError, messageOf, SvcError } from 'svc/sdk';

import { Inflow, Outflow } from '../wire/flows.ts';
import { frame, frameReader } from '../wire/frames.ts';
import { channelFd, deniedBy, type FromChild, type ToChild, type WireError } from '../wire/wire.ts';
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
  if (
    (process.permission as { has(scope: string): boolean } | undefined)?.has('fs.write') !== false
  ) {
    process.stderr.write(
      'refused to run: the permission model is off in this process, so nothing confines the code\n',
    );
    process.exit(78);
  }
}

/** A call that the pack works on, and the bodies that flow with it. */
interface Running {
  readonly stop: AbortController;
  readonly body: Inflow;
  readonly answer: Outflow;
}

class PackServer {
  readonly #channel: Socket;
  readonly #running = new Map<number, Running>();
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
        return this.#cancel(message.id);
      case 'piece': {
        const body = this.#running.get(message.id)?.body;
        return void (message.bytes === undefined
          ? body?.finish(message.error && new SvcError(message.error.code, message.error.message))
          : body?.push(message.bytes));
      }
      case 'more':
        return void this.#running.get(message.id)?.answer.more(message.bytes);
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
      this.#say({ t: 'started', isResident: this.#pack.isResident });
    } catch (error) {
      this.#say({ t: 'not-started', error: wireError(error) });
    }
  }

  async #answer({ id, method, input, hasBody, bytes }: ToChild & { t: 'call' }): Promise<void> {
    const running: Running = {
      stop: new AbortController(),
      body: new Inflow(
        (count) => this.#running.has(id) && this.#say({ t: 'more', id, bytes: count }),
        () => undefined,
      ),
      answer: new Outflow(),
    };
    this.#running.set(id, running);
    let streams = false;
    try {
      const { key, call } = (input ?? {}) as { key?: string; call?: object };
      const whole = hasBody ? { key, call: { ...call, body: running.body } } : input;
      const value = await this.#pack?.invoke(method, whole, running.stop.signal);
      if (!bytes) {
        return this.#reply(id, value);
      }
      const pieces = piecesOf(value);
      streams = true;
      this.#say({ t: 'reply', id, streams });
      await running.answer.pour(pieces, (piece) =>
        this.#say({ t: 'piece', id, data: Buffer.from(piece).toString('base64') }),
      );
      this.#say({ t: 'piece', id });
    } catch (error) {
      this.#say(
        streams
          ? { t: 'piece', id, error: wireError(error) }
          : { t: 'reply', id, error: wireError(error) },
      );
    } finally {
      this.#running.delete(id);
      running.body.finish(new Error('the call has ended'));
    }
  }

  #cancel(id: number): void {
    const running = this.#running.get(id);
    running?.answer.end();
    running?.stop.abort();
  }

  #reply(id: number, value: unknown): void {
    const body = jsonOf(value);
    if (Buffer.byteLength(body) > this.#maxPayloadBytes) {
      throw unsent(
        `has ${Buffer.byteLength(body)} bytes, and ${this.#maxPayloadBytes} are allowed`,
      );
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

/** Throws in words for its author, who sees nothing of what is logged here. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    throw unsent(`is not JSON: ${messageOf(error).split('\n', 1)[0]}`);
  }
}

const unsent = (why: string): SvcError =>
  new SvcError('upstream_error', `The answer of the pack ${why}.`, { reason: 'packs.answer' });

/** Returns the pieces of a byte route's answer: a text, bytes, or a sequence of these. */
function piecesOf(value: unknown): AsyncIterable<Uint8Array | string> {
  if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) {
    return value as AsyncIterable<Uint8Array | string>;
  }
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) {
    throw new Error(
      'a route that "produces" bytes must return a text, bytes, or an async iterable of them',
    );
  }
  return Readable.from([value]);
}

/** Converts an error for the host; further details for its author go to the log of the child. */
function wireError(error: unknown): WireError {
  if (isSvcError(error)) {
    return { code: error.code, message: error.message };
  }
  process.stderr.write(`${(error instanceof Error && error.stack) || messageOf(error)}\n`);
  const { code, permission = '' } = (error ?? {}) as { code?: unknown; permission?: string };
  if (code !== 'ERR_ACCESS_DENIED') {
    return { code: 'internal', message: messageOf(error) };
  }
  const reason = Object.hasOwn(deniedBy, permission)
    ? deniedBy[permission as keyof typeof deniedBy]
    : undefined;
  return {
    code: 'forbidden',
    message: `the pack was denied access without permission: ${permission}; ${messageOf(error)}`,
    ...(reason && { reason }),
  };
}
