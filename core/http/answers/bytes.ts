import type { HandlerCall } from '../handler/call.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { runHandler } from '../handler/call.ts';
import { replyPacked } from '../replies/packing.ts';
import { head } from '../replies/reply.ts';
import type { Served } from '../routes/route-table.ts';
import { stream } from './stream.ts';
import { writeOrWait } from './write.ts';

/** Runs a handler that answers with bytes, whole or piece by piece. */
export async function sendBytes(
  exchange: Exchange,
  served: Served,
  call: HandlerCall,
): Promise<void> {
  const { declaration, status } = served.route;
  const answer = await runHandler(exchange, served, call);
  if (isStream(answer)) {
    return pour(exchange, served, exchange.status ?? status, answer);
  }
  const empty =
    answer === undefined && exchange.status === undefined && declaration.status === undefined;
  return replyPacked(
    exchange,
    empty ? 204 : (exchange.status ?? status),
    declaration.produces!,
    answer as string | Uint8Array | undefined,
  );
}

/** Sends as fast as the client reads; a client that stops reading is cut, and its source with it. */
async function pour(
  exchange: Exchange,
  served: Served,
  status: number,
  source: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { res, req } = exchange;
  res.writeHead(status, [
    ...head(exchange),
    ...(exchange.header('content-type') === undefined
      ? ['content-type', served.route.declaration.produces!]
      : []),
  ]);
  const ending =
    req.method === 'HEAD'
      ? 'done'
      : await stream(exchange, served, source, (chunk) => writeOrWait(exchange, chunk));
  if (ending === 'done') {
    res.end();
  } else {
    // Half a download must not look like a whole one.
    res.destroy();
  }
}

const isStream = (value: unknown): value is AsyncIterable<Uint8Array> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
