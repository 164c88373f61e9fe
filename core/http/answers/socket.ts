import { type WebSocket, WebSocketServer } from 'ws';

import { withPin } from '../../registry/index.ts';
import type { RouteDeclaration, SvcError } from '../../sdk/index.ts';
import { witnessed } from '../handler/audit.ts';
import type { HandlerCall } from '../handler/call.ts';
import { errors } from './errors.ts';
import { runSocket } from './live-socket.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Served } from '../routes/route-table.ts';

const usualMessageBytes = 1024 * 1024;
/** A peer that has vanished is noticed by the system, too. */
const tcpKeepAliveMs = 60_000;

/** One acceptor per declaration, because the size of a message is its own. */
const acceptors = new WeakMap<RouteDeclaration, WebSocketServer>();

/** Grants the upgrade that the pipeline has let through; from then on the socket has a life of its own. */
export async function openSocket(
  exchange: Exchange,
  served: Served,
  call: HandlerCall,
): Promise<void> {
  const { declaration, audited } = served.route;
  if (!exchange.upgrade?.isWebSocket) {
    exchange.setHeader('upgrade', 'websocket');
    throw errors.upgrade_needed();
  }
  checkOrigin(exchange);
  const protocol = chooseProtocol(declaration, exchange.upgrade.protocols);
  if (declaration.knock) {
    try {
      await withPin(served.pin, () => declaration.knock!(call));
    } catch (error) {
      hold(exchange, declaration, error);
      throw error;
    }
  }
  if (audited) {
    await witnessed(exchange, undefined, () => undefined);
  }
  const ws = accept(exchange, declaration, protocol);
  exchange.status = 101;
  exchange.upgraded = true;
  runSocket(exchange, served, call, ws);
}

/**
 * Time for which a refusal is repeated to others at the same door, and the max number of addresses
 * at the same time.
 */
const [heldMs, maxHeld] = [50, 10_000];

function hold(
  { front: { held, clock, addresses }, req: { socket } }: Exchange,
  { path, access }: RouteDeclaration,
  error: unknown,
): void {
  const { retryAfterSeconds: seconds, reason } = error as SvcError;
  const peer = reason === 'http.door_full' ? '' : socket.remoteAddress;
  if (access === 'public' && seconds !== undefined && !addresses.isProxy(peer)) {
    if (held.size >= maxHeld) {
      held.clear();
    }
    held.set(`${peer} ${path}`, { until: clock.monotonic() + heldMs, seconds });
  }
}

/** A browser says where its page comes from; a page of another site must not speak with the user's rights. */
function checkOrigin({ req, front }: Exchange): void {
  const { origin, host } = req.headers;
  if (origin === undefined) {
    return;
  }
  const given = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!given || (given.origin !== front.ownOrigin && given.host !== host)) {
    throw errors.origin_foreign();
  }
}

function chooseProtocol(
  { protocols }: RouteDeclaration,
  offered: readonly string[],
): string | undefined {
  const chosen = protocols?.find((protocol) => offered.includes(protocol));
  if (protocols !== undefined && chosen === undefined) {
    throw errors.subprotocol({ protocols: protocols.join(', ') });
  }
  return chosen;
}

function accept(
  { front, req, res, upgrade }: Exchange,
  declaration: RouteDeclaration,
  protocol: string | undefined,
): WebSocket {
  const { socket, head } = upgrade!;
  req.socket.setKeepAlive(true, tcpKeepAliveMs);
  const acceptor = acceptorOf(declaration);
  let accepted: WebSocket | undefined;
  let refused: Error | undefined;
  acceptor.once('wsClientError', (error) => (refused = error));
  acceptor.options.handleProtocols = () => protocol ?? false;
  // All of it is synchronous, so the two fields of the acceptor belong to this request for so long.
  acceptor.handleUpgrade(req, socket, head, (ws) => (accepted = ws));
  acceptor.removeAllListeners('wsClientError');
  if (!accepted) {
    throw errors.handshake({ cause: refused?.message ?? 'the connection is closed' });
  }
  res.detachSocket(req.socket);
  front.counted.get(req.socket)?.();
  front.connections.delete(req.socket);
  return accepted;
}

function acceptorOf(declaration: RouteDeclaration): WebSocketServer {
  let acceptor = acceptors.get(declaration);
  if (!acceptor) {
    const maxPayload = declaration.maxMessageBytes ?? usualMessageBytes;
    acceptor = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
    });
    acceptors.set(declaration, acceptor);
  }
  return acceptor;
}
