import { createSocket } from 'node:dgram';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';

import { timestamp } from 'svc/sdk';

import { errors } from './errors.ts';
import { entryOf } from '../rows/record.ts';
import type { Row } from '../rows/tables.ts';
import { type Sink, shippedLine } from './sink.ts';

export interface SyslogParts {
  readonly protocol: 'udp' | 'tcp' | 'tls';
  readonly host: string;
  readonly port: number;
  /** CA certificate as PEM; empty: those that this machine trusts. */
  readonly ca: string;
  /** Name of this machine in the messages. */
  readonly name: string;
  /** Checked address to connect to. */
  readonly addressOf: (host: string) => Promise<string>;
}

const withinMs = 15_000;
/** Time for the end of a receiver that closes connections at once to arrive before ours is sent. */
const settleMs = 25;
/** Facility 13 of RFC 5424: log audit. */
const facility = 13 * 8;
const [warning, informational] = [4, 6];
const longestId = 32;

/**
 * Syslog by RFC 5424. Over TCP and TLS (RFC 6587, RFC 5425) there is no acknowledgement, so each batch has a connection of its
 * own, whose end is one: the receiver closes it in order only when it has read everything. Over UDP (RFC 5426) there is none at all.
 */
export function syslogSink(parts: SyslogParts): Sink {
  const { protocol, host, port, name, addressOf } = parts;
  return {
    place: `syslog+${protocol}://${host}:${port}`,
    lingerMs: 0,
    async send(batch, signal) {
      const messages = batch.map((row) => Buffer.from(syslogMessage(row, name)));
      const address = await addressOf(host);
      await (protocol === 'udp'
        ? sendDatagrams(messages, address, port)
        : sendStream(framed(messages), opened(parts, address), signal));
    },
  };
}

/** A row as one message; its text is the JSON of the row. */
export function syslogMessage(row: Row, name: string): string {
  const { occurred_at: at, action, status } = entryOf(row.record);
  const severity = status === 'success' ? informational : warning;
  const id = action.replaceAll(/[^!-~]/g, '_').slice(0, longestId) || '-';
  return `<${facility + severity}>1 ${timestamp(at)} ${name} svc - ${id} - ${shippedLine(row)}`;
}

/** Octet counting: a message may have any character, and none ends it early. */
const framed = (messages: readonly Buffer[]): Buffer =>
  Buffer.concat(messages.flatMap((message) => [Buffer.from(`${message.length} `), message]));

function opened({ protocol, host, port, ca }: SyslogParts, address: string): Socket {
  return protocol === 'tcp'
    ? connect({ host: address, port })
    : connectSecure({
        host: address,
        port,
        ...(isIP(host) === 0 && { servername: host }),
        ...(ca !== '' && { ca }),
      });
}

function sendStream(bytes: Buffer, socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void socket.destroy(errors.sink_stopped());
    signal.addEventListener('abort', stop, { once: true });
    let [isWritten, isEnded, isRead] = [false, false, false];
    socket.setTimeout(withinMs, () => {
      if (!isWritten || isEnded) {
        socket.destroy(errors.sink_silent());
        return;
      }
      isEnded = !socket.readableEnded;
      socket.setTimeout(withinMs);
      socket.end();
    });
    socket.once('error', reject);
    // A receiver that ends first does so for reasons of its own, whether it has read anything or not.
    socket.once('end', () => (isRead = isEnded));
    socket.once('close', () => {
      signal.removeEventListener('abort', stop);
      if (isRead) {
        resolve();
      } else {
        reject(errors.sink_cut());
      }
    });
    socket.resume().write(bytes, () => {
      isWritten = true;
      socket.setTimeout(settleMs);
    });
    void (signal.aborted && stop());
  });
}

async function sendDatagrams(
  messages: readonly Buffer[],
  address: string,
  port: number,
): Promise<void> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    for (const message of messages) {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.send(message, port, address, (error) => (error ? reject(error) : resolve()));
      });
      socket.removeAllListeners('error');
    }
  } finally {
    socket.close();
  }
}
