import {
  type ErrorWording,
  type FieldProblem,
  isSvcError,
  messageOf,
  type RequestHeaders,
  type SvcError,
} from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { errors } from './errors.ts';
import { jsonType, reply } from './reply.ts';

interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly request_id?: string;
  readonly details?: readonly FieldProblem[];
}

/** The one place where anything thrown becomes something a user may read. */
export function publicError(error: unknown): SvcError {
  return isSvcError(error) && error.code !== 'internal' ? error : errors.internal();
}

/** A sentence may repeat what the caller typed, and the caller may have typed a secret into the wrong place. */
export function errorBody(
  { code, message, details }: SvcError,
  { requestId, front: { hideSecrets = (text) => text } }: Exchange,
): ErrorBody {
  const safe = details?.map((problem) => ({
    path: hideSecrets(problem.path),
    message: hideSecrets(problem.message),
  }));
  return {
    error: code,
    message: hideSecrets(message),
    request_id: requestId,
    ...(safe && { details: safe }),
  };
}

/** Answers with the error, unless an answer has begun or the client is gone. */
export function replyError(exchange: Exchange, error: unknown): void {
  const shown = publicError(error);
  logError(exchange, shown, error);
  if (exchange.res.headersSent) {
    exchange.res.destroy();
    return;
  }
  // What a handler set was meant for the answer that did not come.
  exchange.headers = exchange.headers?.filter((_, index, all) =>
    kept.has(all[index - (index % 2)]!),
  );
  for (const [name, value] of Object.entries(shown.headers ?? {})) {
    exchange.setHeader(name, value);
  }
  if (shown.reason !== undefined) {
    exchange.setHeader('x-svc-reason', shown.reason);
  }
  if (shown.retryAfterSeconds !== undefined) {
    exchange.setHeader('retry-after', String(Math.max(1, Math.ceil(shown.retryAfterSeconds))));
  }
  if (shown.status === 401 && exchange.header('www-authenticate') === undefined) {
    exchange.setHeader(
      'www-authenticate',
      isForMachines(exchange) ? 'Basic realm="svc", Bearer realm="svc"' : 'Bearer realm="svc"',
    );
  }
  const { status = shown.status, type, body } = wordingOf(exchange, shown);
  exchange.status = status;
  reply(exchange, status, type, body);
}

/** Browsers ask for a password when they see Basic, so only machines are offered it. */
function isForMachines({ served }: Exchange): boolean {
  const access = served?.route.declaration.access;
  return access === 'machine' || (typeof access === 'object' && 'machine' in access);
}

/** Returns the wording of an error in the path's protocol, if it has one. */
function wordingOf(exchange: Exchange, shown: SvcError): ErrorWording {
  const usual = errorBody(shown, exchange);
  const wording = exchange.served?.route.declaration.wording ?? exchange.wording;
  if (wording === undefined) {
    return { type: jsonType, body: JSON.stringify(usual) };
  }
  const kind = (shown as { readonly kind?: unknown }).kind;
  const error = {
    code: shown.code,
    status: shown.status,
    message: usual.message,
    kind: typeof kind === 'string' ? kind : undefined,
  };
  return wording(error, exchange.req.headers as RequestHeaders);
}

const kept = new Set(['allow', 'www-authenticate', 'retry-after', 'upgrade']);

function logError(exchange: Exchange, shown: SvcError, error: unknown): void {
  const fields = {
    request_id: exchange.requestId,
    route: exchange.label,
    status: shown.status,
    code: shown.code,
    reason: shown.reason,
  };
  const { log } = exchange.front;
  if (shown.code === 'internal') {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error(
      { event: 'http.request_failed', ...fields, cause: messageOf(error), stack },
      'request failed with an internal error',
    );
  } else if (shown.status >= 500) {
    noteUnserved(exchange.front, { ...fields, cause: shown.message });
  } else {
    log.debug(
      { event: 'http.request_refused', ...fields, cause: shown.message },
      'request refused',
    );
  }
}

/** A storm is a line a second, with how many came after the one before. */
export function noteUnserved({ log, unserved, clock }: Exchange['front'], fields: object): void {
  const now = clock.monotonic();
  const isTold = now - unserved.at >= 1_000;
  if (isTold) {
    log.warn(
      { event: 'http.request_unserved', ...fields, more_before: unserved.since },
      'request not served',
    );
  }
  Object.assign(unserved, isTold ? { at: now, since: 0 } : { since: unserved.since + 1 });
}
