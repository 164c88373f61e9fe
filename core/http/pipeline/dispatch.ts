import { isSvcError, type Method } from '../../sdk/index.ts';
import { recordRefusal } from '../handler/audit.ts';
import { authorize } from '../access/authorize.ts';
import { identify, readCredential } from '../access/authenticate.ts';
import { admitBody, checkBody, noBody, readBody } from './body.ts';
import { sendBytes } from '../answers/bytes.ts';
import { HandlerCall } from '../handler/call.ts';
import { replyError } from '../replies/error-reply.ts';
import { sendEvents } from '../answers/events.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { requireHead } from './head.ts';
import { sendJson } from '../answers/json-reply.ts';
import { readPage, takePage } from '../replies/paging.ts';
import { hasBody, reply } from '../replies/reply.ts';
import {
  allowedMethods,
  findRoute,
  readParams,
  type RouteTable,
  routeTable,
  type Served,
  wordingNear,
} from '../routes/route-table.ts';
import { openSocket } from '../answers/socket.ts';
import { parseQuery, readTarget } from '../exchange/target.ts';
import { errors } from './errors.ts';

/** Takes one request from its first line to its answer; never rejects. */
export async function serve(exchange: Exchange): Promise<void> {
  const { front } = exchange;
  const { leases, current } = front.registry;
  front.open += 1;
  // The pin lasts as long as the work does, not as long as the client reads: no code of ours runs after it.
  leases.pin(current);
  exchange.snapshot = current;
  try {
    requireHead(exchange);
    exchange.target = readTarget(exchange.req.url ?? '');
    const served = match(exchange, routeTable(current));
    if (served) {
      exchange.served = served;
      await answer(exchange, served);
    }
  } catch (error) {
    await refuse(exchange, error);
  } finally {
    exchange.end();
    exchange.leaveSnapshot();
    front.open -= 1;
    exchange.report();
    if (front.connections.has(exchange.req.socket)) {
      front.connections.set(exchange.req.socket, exchange.req.socket.bytesRead);
    }
  }
}

/** The stages between finding a route and running it, in the order in which they protect each other. */
async function answer(exchange: Exchange, served: Served): Promise<void> {
  const { front, req, target } = exchange;
  const { route } = served;
  const { declaration } = route;

  exchange.params = readParams(route, target!.segments);
  exchange.ip = front.addresses.of(
    req.socket.remoteAddress,
    req.headers['x-forwarded-for']?.toString(),
  );
  if (declaration.access !== 'public') {
    const asking = authenticate(exchange);
    if (asking) {
      await asking;
    }
    authorize(exchange.principal, route, exchange.params, exchange.credential !== undefined);
  }
  if (front.crowded.has(req.socket)) {
    peopleOnly(exchange);
  }

  const sent = hasBody(exchange);
  if (sent) {
    admitBody(exchange, served);
  }
  const body = sent ? await readBody(exchange, route) : noBody(exchange, route);
  route.shapes.checkParams(exchange.params);
  const query = parseQuery(target!.search);
  const asked = declaration.kind === 'list' ? takePage(query) : undefined;
  route.shapes.checkQuery(query);
  checkBody(exchange, route, body);

  const call = new HandlerCall(exchange, query, body, asked && readPage(exchange, asked, query));
  return answering[declaration.kind](exchange, served, call);
}

const answering = {
  json: sendJson,
  list: sendJson,
  bytes: sendBytes,
  events: sendEvents,
  socket: openSocket,
};

function match(exchange: Exchange, table: RouteTable): Served | undefined {
  const { target, req } = exchange;
  const { segments } = target!;
  const served = findRoute(table, (req.method === 'HEAD' ? 'GET' : req.method) as Method, segments);
  if (served) {
    return served;
  }
  const allowed = allowedMethods(table, segments);
  if (allowed.length === 0) {
    exchange.wording = wordingNear(table, segments);
    throw errors.route_unknown();
  }
  exchange.setHeader('allow', allowed.join(', '));
  exchange.wording = allowed
    .map((method) => findRoute(table, method as Method, segments)?.route.declaration.wording)
    .find(Boolean);
  if (req.method !== 'OPTIONS') {
    throw errors.method_unknown({ method: exchange.method, allowed: allowed.join(', ') });
  }
  exchange.status = 204;
  reply(exchange, 204, '', undefined);
  return undefined;
}

/**
 * Authenticates the caller; returns a promise only if the authenticator has to query something:
 * most answer from cache.
 */
function authenticate(exchange: Exchange): Promise<void> | undefined {
  const credential = readCredential(exchange);
  if (credential === undefined) {
    refuseOpenSecret(exchange);
    return undefined;
  }
  exchange.credential = credential;
  const principal = identify(exchange.front, exchange.snapshot!, credential);
  if (principal instanceof Promise) {
    return principal.then((known) => void (exchange.principal = known));
  }
  exchange.principal = principal;
  return undefined;
}

/**
 * Restricts a connection beyond the limit of its address to people: they are served even behind a
 * fleet's address, and machines come back later.
 */
function peopleOnly(exchange: Exchange): void {
  const { principal, upgrade, front } = exchange;
  exchange.setHeader('connection', 'close');
  if (principal.kind === 'edge' || (principal.kind === 'anonymous' && upgrade)) {
    const retryAfterSeconds = 2 + (front.unserved.since % 8);
    throw errors.address_crowded({ retryAfterSeconds });
  }
}

/**
 * Refuses a call, which changes nothing from here on. An audited one, and every denial, is recorded
 * before its caller is answered.
 */
async function refuse(exchange: Exchange, error: unknown): Promise<void> {
  exchange.abandoned = true;
  exchange.abort(isSvcError(error) ? error : errors.failed_before());
  if (exchange.served && (exchange.served.route.audited || isDenial(error))) {
    await recordRefusal(exchange, error);
  }
  replyError(exchange, error);
}

/** A known caller who may not, or one who is not known; how many rows a stranger can make is bounded. */
const isDenial = (error: unknown): boolean =>
  isSvcError(error) && (error.code === 'forbidden' || error.code === 'unauthorized');

/**
 * Refuses credentials in an address, which ends up in logs and histories; a client that opens a
 * WebSocket that way is refused at once.
 */
function refuseOpenSecret({ upgrade, target }: Exchange): void {
  if (
    upgrade?.isWebSocket &&
    /(?:^|&)(?:access_token|token|ticket|jwt|api_key)=/i.test(target!.search)
  ) {
    throw errors.credential_in_url();
  }
}
