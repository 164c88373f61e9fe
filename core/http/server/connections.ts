import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';

import type { Front } from './front.ts';
import { securityHeaders } from '../replies/security-headers.ts';

/** Bounds how many connections there are, and how many of them come from one address: as many again may ask, to be told when to come back. */
export function limitConnections(server: Server | TlsServer, { addresses, limits, connections, counted, crowded }: Front): void {
  const perAddress = new Map<string, number>();
  // One for all: with a listener of its own, and what Node keeps for each that is told once, an idle connection takes half a kilobyte more.
  function closed(this: Socket): void {
    connections.delete(this);
    counted.get(this)?.();
  }
  server.maxConnections = limits.connections;
  // Of one with TLS the socket that requests come by is there after the handshake, which has a deadline of its own.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', closed);
    const peer = socket.remoteAddress;
    if (peer === undefined || addresses.isProxy(peer)) {
      return;
    }
    const open = (perAddress.get(peer) ?? 0) + 1;
    if (open > 2 * limits.connectionsPerAddress) {
      socket.destroy();
      return;
    }
    if (open > limits.connectionsPerAddress) {
      crowded.add(socket);
      setTimeout(() => socket.bytesRead === 0 && socket.destroy(), 3_000).unref();
    }
    perAddress.set(peer, open);
    counted.set(socket, () => {
      counted.delete(socket);
      const left = perAddress.get(peer)! - 1;
      if (left > 0) {
        perAddress.set(peer, left);
      } else {
        perAddress.delete(peer);
      }
    });
  });
}

/** Ends connections that have brought no byte: clients open some in advance, and node counts them as busy until they speak. */
export function closeSilent({ connections }: Front): void {
  for (const socket of connections) {
    if (socket.bytesRead === 0) {
      socket.destroy();
    }
  }
}

/** What the parser refuses is answered in our own words, too. */
export function answerMalformed(server: Server | TlsServer): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const { status, message } = malformed(error.code);
    const begun = (socket as unknown as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
    if (!socket.writable || begun || /^(?:ECONNRESET|ERR_SSL|ERR_TLS)/.test(error.code ?? '')) {
      socket.destroy();
      return;
    }
    const body = JSON.stringify({ error: 'invalid_argument', message });
    const fixed = securityHeaders.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('');
    const headers = `${fixed}content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
    socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`, () => socket.destroy());
  });
}

function malformed(code: string | undefined): { status: string; message: string } {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: '431 Request Header Fields Too Large', message: 'the address and the headers are larger than 208 KiB' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: '408 Request Timeout', message: 'the request took too long to arrive' };
    default:
      return { status: '400 Bad Request', message: 'this is not a valid HTTP request' };
  }
}
