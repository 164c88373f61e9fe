import type { Exchange } from '../exchange/exchange.ts';
import { withHeaders } from './security-headers.ts';

export const jsonType = 'application/json; charset=utf-8';

/** Time for which a client may keep sending a refused body before its connection ends. */
const lingerMs = 2_000;

/** Writes a whole answer in one go. */
export function reply(
  exchange: Exchange,
  status: number,
  type: string,
  body: string | Uint8Array | undefined,
): void {
  const { res, req } = exchange;
  if (res.headersSent || exchange.gone) {
    return;
  }
  const headers = head(exchange);
  if (body !== undefined && status !== 204 && status !== 304) {
    // A handler that supports more than one format states which one it chose.
    if (exchange.header('content-type') === undefined) {
      headers.push('content-type', type);
    }
    headers.push(
      'content-length',
      String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength),
    );
  }
  const bare = req.method === 'HEAD' || body === undefined || status === 204 || status === 304;
  res.writeHead(status, headers);
  if (leavesBody(exchange)) {
    linger(exchange, bare ? undefined : body);
  } else if (bare) {
    res.end();
  } else {
    res.end(body);
  }
}

/** The headers that every answer to this request carries. */
export function head(exchange: Exchange): string[] {
  const headers = withHeaders(exchange.headers);
  headers.push('x-request-id', exchange.requestId);
  if (exchange.front.closing || exchange.upgrade || leavesBody(exchange)) {
    exchange.res.shouldKeepAlive = false;
    headers.push('connection', 'close');
  }
  return headers;
}

/** Returns whether the request announces a body. */
export function hasBody({ req }: Exchange): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

const leavesBody = (exchange: Exchange): boolean =>
  !exchange.bodyRead && !exchange.req.complete && hasBody(exchange);

/**
 * Answers a client that is still sending: closing at once would reset the connection and take the
 * answer with it, so the rest is read and thrown away for a moment.
 */
function linger({ req, res }: Exchange, body: string | Uint8Array | undefined): void {
  if (body !== undefined) {
    res.write(body);
  }
  res.flushHeaders();
  const done = (): void => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(done, lingerMs);
  req.once('end', done).once('close', done).resume();
}
