import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Front } from '../exchange/front.ts';
import { noteUnserved } from '../replies/error-reply.ts';
import { securityHeaders } from '../replies/security-headers.ts';

/** Node hangs the answer to a request onto its connection. */
type Busy = Socket & { readonly _httpMessage?: ServerResponse | null };

/**
 * Limits connections in total and per address: beyond it they may send requests, and are told when
 * to come back, while some are reserved for others.
 */
export function limitConnections(server: Server | TlsServer, front: Front): void {
  const { addresses, limits, connections, counted, crowded } = front;
  const perAddress = new Map<string, number>();
  // One listener for all: with its own, and what Node allocates for each one-time listener, an idle
  // connection takes half a kilobyte more.
  function closed(this: Socket): void {
    connections.delete(this);
    counted.get(this)?.();
  }
  server.maxConnections = limits.connections;
  const sweep = setInterval(boundHeads, 250, front).unref();
  server.once('close', () => clearInterval(sweep));
  // With TLS the socket that requests arrive on exists after the handshake, which has its own
  // deadline.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.set(socket, 0);
    socket.on('close', closed);
    const peer = socket.remoteAddress;
    if (peer === undefined || addresses.isProxy(peer)) {
      return;
    }
    const open = (perAddress.get(peer) ?? 0) + 1;
    if (open > Math.max(limits.connectionsPerAddress, limits.connections * 0.9)) {
      socket.destroy();
      return;
    }
    if (open > limits.connectionsPerAddress) {
      crowded.add(socket);
      // A silent client is answered, too. Not directly from a timer: what arrived while the thread
      // was busy is read after timers.
      setTimeout(
        () => setImmediate(() => socket.bytesRead === 0 && answerBusy(front, socket, 2, 0)),
        3_000,
      ).unref();
    }
    perAddress.set(peer, open);
    counted.set(socket, () => {
      counted.delete(socket);
      const left = perAddress.get(peer)! - 1;
      void (left > 0 ? perAddress.set(peer, left) : perAddress.delete(peer));
    });
  });
}

/** Size above which a head is long, such as one with the text of a query in its address. */
const usualHeadBytes = 16 * 1024;

/**
 * Ends connections whose long heads do not fit next to older ones; a head is held while it arrives
 * and until its request is answered.
 */
function boundHeads({ connections, limits }: Front): void {
  let held = 0;
  for (const [socket, before] of connections) {
    const sent = socket.bytesRead - before;
    const answer = sent > usualHeadBytes && (socket as Busy)._httpMessage;
    const bytes = answer
      ? answer.req.rawHeaders.reduce((sum, text) => sum + text.length, answer.req.url!.length)
      : sent;
    if (bytes > usualHeadBytes && (held += bytes) > limits.longHeadBytes) {
      socket.destroy();
    }
  }
}

/**
 * Ends connections that have sent no byte, since clients open some in advance and node counts them
 * as busy until they send, and excess ones.
 */
export function closeSilent({ connections, crowded }: Front): void {
  [...connections.keys()]
    .filter((socket) => socket.bytesRead === 0 || crowded.has(socket))
    .forEach((socket) => socket.destroy());
}

/** Answers what the parser refuses in our own format, too. */
export function answerMalformed(server: Server | TlsServer): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const [status, message] = malformed.get(error.code) ?? [
      '400 Bad Request',
      'this is not a valid HTTP request',
    ];
    const isOver =
      !socket.writable ||
      (socket as Busy)._httpMessage?.headersSent ||
      /^(?:ECONNRESET|ERR_SSL|ERR_TLS)/.test(error.code ?? '');
    void (isOver
      ? socket.destroy()
      : answerBarely(socket, status, { error: 'invalid_argument', message }));
  });
}

const fixed = securityHeaders
  .map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`))
  .join('');

function answerBarely(socket: Duplex, status: string, error: object): void {
  const body = JSON.stringify(error);
  const headers = `${fixed}content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.resume().end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
  // Not immediately: data that the peer still sends would be answered by a reset, which discards
  // our answer.
  setTimeout(() => socket.destroy(), 1_000).unref();
}

/** An upgrade of a stranger on a connection too many, or where one was refused a moment ago, is refused unasked: a fleet that obeys nothing leaves time for people. */
export function isHeld(
  front: Front,
  { socket: peer, url, headers }: IncomingMessage,
  socket: Duplex,
): boolean {
  const doors = [`${peer.remoteAddress} ${url}`, ` ${url}`].map((at) => front.held.get(at));
  const door = doors.find((one) => one !== undefined && one.until > front.clock.monotonic());
  const isTooMany =
    front.crowded.has(peer) && headers.authorization === undefined && headers.cookie === undefined;
  const { since } = front.unserved;
  const delay = since > toldAtOnce ? heldBackMs + (since % 4_000) : 0;
  return (isTooMany || door !== undefined) && answerBusy(front, socket, door?.seconds ?? 2, delay);
}

/**
 * Max answers per second that are sent immediately. The others are delayed: the only wait that
 * works on clients who obey nothing.
 */
const [toldAtOnce, heldBackMs] = [200, 8_000];

function answerBusy(front: Front, socket: Duplex, seconds: number, delay: number): true {
  const wait = seconds + (front.unserved.since % 5);
  const message = `too many concurrent connections; retry in ${wait} s`;
  noteUnserved(front, { status: 503, cause: message });
  front.crowded.add(socket as Socket);
  setTimeout(answerBarely, delay, socket, `503 Service Unavailable\r\nretry-after: ${wait}`, {
    error: 'unavailable',
    message,
  }).unref();
  return true;
}

const malformed: ReadonlyMap<string | undefined, readonly [status: string, message: string]> =
  new Map([
    [
      'HPE_HEADER_OVERFLOW',
      [
        '431 Request Header Fields Too Large',
        'the address and the headers are larger than 208 KiB',
      ],
    ],
    ['ERR_HTTP_REQUEST_TIMEOUT', ['408 Request Timeout', 'the request took too long to arrive']],
  ]);
