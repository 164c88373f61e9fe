import { type FinishedJson, type MaybePromise, type Page } from '../../sdk/index.ts';
import type { HandlerCall } from '../handler/call.ts';
import { errorBody, publicError } from '../replies/error-reply.ts';
import { namesTag, replyTag } from '../replies/etag.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { isThenable, runHandler } from '../handler/call.ts';
import { Claim, claimKey } from '../handler/idempotency.ts';
import { forCaller, type JsonAnswer } from '../replies/brief.ts';
import { replyPacked } from '../replies/packing.ts';
import { pageBody } from '../replies/paging.ts';
import { jsonType } from '../replies/reply.ts';
import type { CompiledRoute, Served } from '../routes/route-table.ts';
import { errors } from './errors.ts';

const tagged = new Set(['GET', 'PUT', 'PATCH']);

/** Runs a handler that answers with one value, and sends it as JSON. */
export async function sendJson(
  exchange: Exchange,
  served: Served,
  call: HandlerCall,
): Promise<void> {
  const found =
    exchange.req.headers['idempotency-key'] === undefined ? undefined : await claimKey(exchange);
  if (found && !(found instanceof Claim)) {
    exchange.setHeader('idempotency-replayed', 'true');
    return send(exchange, served.route, { status: found.status, text: found.body });
  }
  try {
    const running = runHandler(exchange, served, call, found);
    const answer = isThenable(running) ? await running : running;
    const { status, text } = written(exchange, served.route, call, answer);
    if (found) {
      await found.answer(status, typeof text === 'object' ? textOf(text) : text);
    }
    await send(exchange, served.route, { status, text });
  } catch (error) {
    // If its change was made all the same, a repeat must get this answer and not make the change
    // twice.
    const shown = publicError(error);
    await found?.answer(shown.status, JSON.stringify(errorBody(shown, exchange)));
    throw error;
  } finally {
    found?.release();
  }
}

function send(exchange: Exchange, route: CompiledRoute, answer: JsonAnswer): MaybePromise<void> {
  const { status, text } = forCaller(exchange, route, answer);
  return replyPacked(exchange, status, jsonType, text);
}

function written(
  exchange: Exchange,
  route: CompiledRoute,
  call: HandlerCall,
  answer: unknown,
): JsonAnswer {
  const status = exchange.status ?? route.status;
  if (ArrayBuffer.isView(answer)) {
    const bytes = answer as FinishedJson;
    if (exchange.front.checkResponses) {
      checked(exchange, route, textOf(bytes));
    }
    return { status, text: bytes };
  }
  if (route.declaration.kind === 'list') {
    const text = JSON.stringify(pageBody(exchange, answer as Page<unknown>, call.query));
    return { status, text: checked(exchange, route, text) };
  }
  const text = answer === undefined ? undefined : JSON.stringify(answer);
  // A handler whose answer depends on more than one row knows its tag better than `updated_at` does.
  const tag = tagged.has(route.declaration.method)
    ? (exchange.header('etag') ?? replyTag(answer, text))
    : undefined;
  if (tag !== undefined) {
    exchange.setHeader('etag', tag);
    const known = exchange.req.headers['if-none-match'];
    if (route.declaration.method === 'GET' && known !== undefined && namesTag(known, tag)) {
      return { status: 304, text: undefined };
    }
  }
  return { status, text: checked(exchange, route, text) };
}

const textOf = ({ buffer, byteOffset, byteLength }: FinishedJson): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');

/**
 * Checks a reply under test: one that breaks its own declaration is an error rather than a surprise
 * for the client.
 */
function checked(
  exchange: Exchange,
  { declaration, shapes, key }: CompiledRoute,
  text: string | undefined,
): string | undefined {
  if (!exchange.front.checkResponses) {
    return text;
  }
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  const values = declaration.kind === 'list' ? (value as { items: unknown[] }).items : [value];
  for (const [index, entry] of values.entries()) {
    const problem = shapes.replyProblem(entry);
    if (problem !== undefined) {
      throw errors.reply_shape({
        route: key,
        item: declaration.kind === 'list' ? `/items/${index}` : '',
        problem,
      });
    }
  }
  return text;
}
