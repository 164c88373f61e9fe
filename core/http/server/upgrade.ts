import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { serve } from '../pipeline/dispatch.ts';
import { Exchange } from '../pipeline/exchange.ts';
import type { Front } from './front.ts';
import { requestIdOf } from '../pipeline/request-id.ts';

/**
 * Takes an upgrade through the same stages as every request, on a response made for the purpose: until
 * the upgrade is granted, every answer is plain HTTP. Other protocols than WebSocket are not switched
 * to; their requests are answered as if they had not asked.
 */
export function serveUpgrade(front: Front, req: IncomingMessage, socket: Duplex, head: Buffer): void {
  // Nobody else listens on an upgraded connection; 'close' follows and is what everybody here waits for.
  socket.on('error', () => socket.destroy());
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(req.socket);
  res.once('finish', () => socket.end());
  const offered = req.headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim()) ?? [];
  const isWebSocket = req.headers.upgrade?.toLowerCase() === 'websocket';
  const requestId = requestIdOf(req.headers['x-request-id'], front.ids);
  void serve(new Exchange(front, req, res, requestId, { socket, head, isWebSocket, protocols: offered }));
}
