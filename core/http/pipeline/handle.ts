import { withPin } from '../../registry/index.ts';
import { isSvcError, type MaybePromise, type Socket, SvcError } from '../../sdk/index.ts';
import { witnessed } from './audit.ts';
import type { HandlerCall } from './call.ts';
import { withDeadline } from './deadline.ts';
import type { Exchange } from './exchange.ts';
import type { Claim } from './idempotency.ts';
import type { CompiledRoute, Served } from '../routes/route-table.ts';

/** Runs the handler, witnessed where its route is audited, on its plugin's account. A handler that answers at once costs no tick. */
export function runHandler(exchange: Exchange, served: Served, call: HandlerCall, claim?: Claim): MaybePromise<unknown> {
  return served.route.audited || claim ? witnessed(exchange, claim, () => onAccount(exchange, served, call)) : onAccount(exchange, served, call);
}

function onAccount(exchange: Exchange, { route, pin }: Served, call: HandlerCall): MaybePromise<unknown> {
  const { declaration } = route;
  try {
    const answer: unknown = withPin(pin, () => declaration.handle(call, noSocket));
    if (!isThenable(answer)) {
      return answer;
    }
    return inTime(answer, declaration.timeoutMs ?? exchange.front.limits.handlerMs).catch((error: unknown) => blame(exchange, route, error));
  } catch (error) {
    return blame(exchange, route, error);
  }
}

/** An error of the table is an answer; anything else, and silence, is the plugin's fault unless its client left it. */
function blame({ front, gone }: Exchange, { owner, key }: CompiledRoute, error: unknown): never {
  if (error instanceof HandlerLate || (!isSvcError(error) && !gone)) {
    front.strike(owner, key, error);
  }
  throw error;
}

const inTime = (answer: PromiseLike<unknown>, ms: number): Promise<unknown> => withDeadline(Promise.resolve(answer), ms, () => new HandlerLate(ms));

class HandlerLate extends SvcError {
  constructor(ms: number) {
    super('unavailable', `no answer within ${ms / 1000} s; try again later`, { reason: 'http.handler_late', retryAfterSeconds: 5 });
  }
}

/** Only socket routes get a live one, and they do not run here. */
const noSocket = undefined as unknown as Socket;

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
