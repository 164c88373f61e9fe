import { withPin } from '../registry/index.ts';
import { isSvcError, type Socket, SvcError } from '../sdk/index.ts';
import { witnessed } from './audit.ts';
import type { HandlerCall } from './call.ts';
import { withDeadline } from './deadline.ts';
import type { Exchange } from './exchange.ts';
import type { Claim } from './idempotency.ts';
import type { Served } from './route-table.ts';

/** Runs the handler, witnessed where its route is audited, on its plugin's account. */
export function runHandler(exchange: Exchange, served: Served, call: HandlerCall, claim?: Claim): Promise<unknown> {
  const work = (): Promise<unknown> => onAccount(exchange, served, call);
  return served.route.audited || claim ? witnessed(exchange, claim, work) : work();
}

async function onAccount(exchange: Exchange, { route, pin }: Served, call: HandlerCall): Promise<unknown> {
  const { declaration, owner, key } = route;
  try {
    const answer: unknown = withPin(pin, () => declaration.handle(call, noSocket));
    return isThenable(answer) ? await inTime(answer, declaration.timeoutMs ?? exchange.front.limits.handlerMs) : answer;
  } catch (error) {
    if (error instanceof HandlerLate || (!isSvcError(error) && !exchange.gone)) {
      exchange.front.strike(owner, key, error);
    }
    throw error;
  }
}

const inTime = (answer: PromiseLike<unknown>, ms: number): Promise<unknown> => withDeadline(Promise.resolve(answer), ms, () => new HandlerLate(ms));

class HandlerLate extends SvcError {
  constructor(ms: number) {
    super('unavailable', `no answer within ${ms / 1000} s; try again later`, { retryAfterSeconds: 5 });
  }
}

/** Only socket routes get a live one, and they do not run here. */
const noSocket = undefined as unknown as Socket;

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
