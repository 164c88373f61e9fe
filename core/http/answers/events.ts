import { principalKey } from '../../auth/index.ts';
import { type ServerEvent } from '../../sdk/index.ts';
import type { HandlerCall } from '../handler/call.ts';
import { errorBody, publicError } from '../replies/error-reply.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { runHandler } from '../handler/call.ts';
import { head } from '../replies/reply.ts';
import type { Served } from '../routes/route-table.ts';
import { errors } from './errors.ts';
import { stream } from './stream.ts';
import { writeOrWait } from './write.ts';

/** Min delay before a client reconnects; the next generation or process is up by then. */
const comeBack = 'retry: 1000\n\n';

/** Runs a handler that answers with a stream of events, for as long as its client may and wants to listen. */
export async function sendEvents(
  exchange: Exchange,
  served: Served,
  call: HandlerCall,
): Promise<void> {
  const { declaration } = served.route;
  for (const [name, value] of Object.entries(declaration.headers ?? {})) {
    exchange.setHeader(name, value);
  }
  exchange.setHeader('cache-control', 'no-store, no-transform');
  exchange.setHeader('x-accel-buffering', 'no');
  if (exchange.req.method === 'HEAD') {
    begin(exchange);
    exchange.res.end();
    return;
  }
  const freeSeat = reserveSeat(exchange);
  try {
    const source = (await runHandler(exchange, served, call)) as AsyncIterable<ServerEvent>;
    await relay(exchange, served, source);
  } finally {
    freeSeat();
  }
}

async function relay(
  exchange: Exchange,
  served: Served,
  source: AsyncIterable<ServerEvent>,
): Promise<void> {
  const { res } = exchange;
  begin(exchange);
  const stopHeart = heartbeat(exchange);
  try {
    const ending = await stream(exchange, served, source, (event) =>
      writeOrWait(exchange, frame(event)),
    );
    res.end(ending === 'retired' || ending === 'closing' ? comeBack : undefined);
  } catch (error) {
    const body = errorBody(publicError(error), exchange);
    exchange.front.log.warn(
      {
        event: 'http.stream_failed',
        request_id: exchange.requestId,
        route: exchange.label,
        cause: String(error),
      },
      'event stream failed; client notified',
    );
    res.end(frame({ event: 'error', data: body }));
  } finally {
    stopHeart();
  }
}

function begin(exchange: Exchange): void {
  exchange.res.writeHead(exchange.status ?? 200, [
    ...head(exchange),
    'content-type',
    'text/event-stream; charset=utf-8',
  ]);
  exchange.res.flushHeaders();
}

/** One event in the wire format; a line break in a name would start a field of its own, so it is refused. */
export function frame({ id, event, data }: ServerEvent): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? 'null');
  const lines = /[\r\n]/.test(text) ? text.split(/\r\n|\r|\n/).join('\ndata: ') : text;
  return `${field('event', event)}${field('id', id)}data: ${lines}\n\n`;
}

function field(name: string, value: string | undefined): string {
  if (value === undefined) {
    return '';
  }
  // oxlint-disable-next-line no-control-regex
  if (/[\r\n\u0000]/.test(value)) {
    throw new TypeError(`the ${name} of a server event has a line break or NUL in it`);
  }
  return `${name}: ${value}\n`;
}

/** Keeps proxies from closing a quiet stream, and finds the client that does not even read that. */
function heartbeat({ res, front }: Exchange): () => void {
  const { heartbeatMs, unreadMs } = front.limits;
  let unreadSince: number | undefined;
  const timer = setInterval(() => {
    if (res.writableLength === 0) {
      unreadSince = undefined;
      res.write(': ping\n\n');
      return;
    }
    unreadSince ??= front.clock.monotonic();
    if (front.clock.monotonic() - unreadSince >= unreadMs) {
      res.destroy();
    }
  }, heartbeatMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** One caller may listen to a few streams at once; a page that leaks them must not take those of others. */
function reserveSeat({ front, principal, ip }: Exchange): () => void {
  const who = principal.kind === 'anonymous' ? `address:${ip}` : principalKey(principal);
  const taken = front.streams.get(who) ?? 0;
  if (taken >= front.limits.streamsPerPrincipal) {
    throw errors.streams_taken(
      { count: taken },
      {
        retryAfterSeconds: 5,
      },
    );
  }
  front.streams.set(who, taken + 1);
  return () => {
    const left = (front.streams.get(who) ?? 1) - 1;
    if (left > 0) {
      front.streams.set(who, left);
    } else {
      front.streams.delete(who);
    }
  };
}
