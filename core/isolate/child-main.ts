import './restricted.ts';
import './disarm.ts';

import { Socket } from 'node:net';
import { deserialize } from 'node:v8';

import { isSvcError, messageOf } from '../sdk/index.ts';
import { frame, frameReader } from './frames.ts';
import { evaluatePack, type PackCode } from './pack-code.ts';
import { channelFd, type FromChild, type ToChild, type WireError } from './wire.ts';

/** The host is trusted; this only keeps a broken frame from being taken for a length. */
const maxFrameBytes = 256 * 1024 * 1024;

const channel = new Socket({ fd: channelFd });
const running = new Map<number, AbortController>();
let pack: PackCode | undefined;
let maxPayloadBytes = 0;

const say = (message: FromChild): void => write(JSON.stringify(message));
const write = (text: string): void => void channel.write(frame(Buffer.from(text)));

// Whatever happened to the host, nobody is left to work for.
channel.on('close', () => process.exit(0));
channel.on('error', () => process.exit(0));
channel.on(
  'data',
  frameReader(
    maxFrameBytes,
    (body) => void hear(deserialize(body) as ToChild),
    () => process.exit(76),
  ),
);

async function hear(message: ToChild): Promise<void> {
  switch (message.t) {
    case 'load':
      return await load(message);
    case 'call':
      return await answer(message);
    case 'cancel':
      return running.get(message.id)?.abort();
    case 'ping':
      return say({ t: 'pong' });
  }
}

async function load(message: ToChild & { t: 'load' }): Promise<void> {
  maxPayloadBytes = message.maxPayloadBytes;
  try {
    pack = evaluatePack(message.code, message.filename);
    await pack.start();
    say({ t: 'started' });
  } catch (error) {
    say({ t: 'not-started', error: told(error) });
  }
}

async function answer({ id, method, input }: ToChild & { t: 'call' }): Promise<void> {
  const stop = new AbortController();
  running.set(id, stop);
  try {
    reply(id, await pack?.invoke(method, input, stop.signal));
  } catch (error) {
    say({ t: 'reply', id, error: told(error) });
  } finally {
    running.delete(id);
  }
}

function reply(id: number, value: unknown): void {
  const body = JSON.stringify(value) ?? 'null';
  if (Buffer.byteLength(body) > maxPayloadBytes) {
    throw new Error(`the answer has ${Buffer.byteLength(body)} bytes, ${maxPayloadBytes} are allowed`);
  }
  write(`{"t":"reply","id":${id},"value":${body}}`);
}

/** An error as the host hears it; what its author needs beyond that goes to the log of the child. */
function told(error: unknown): WireError {
  if (isSvcError(error)) {
    return { code: error.code, message: error.message };
  }
  process.stderr.write(`${(error instanceof Error && error.stack) || messageOf(error)}\n`);
  return { code: 'internal', message: messageOf(error) };
}
