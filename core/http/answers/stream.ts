import { withPin } from '../../registry/index.ts';
import { isSvcError } from '../../sdk/index.ts';
import { watchAuthority } from '../access/authority.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { LongAnswer } from '../exchange/front.ts';
import type { Served } from '../routes/route-table.ts';
import { errors } from './errors.ts';

/** Why a stream came to its end. */
export type Ending = 'done' | 'gone' | 'retired' | 'closing' | 'expired';

/**
 * Delivers what a handler's stream yields until it is done or has to stop: its client left, its
 * plugin retires, the service closes, or the caller's authority ended. The snapshot it began in is
 * released; only the generation that serves it is held.
 */
export async function stream<T>(
  exchange: Exchange,
  served: Served,
  source: AsyncIterable<T>,
  deliver: (item: T) => Promise<boolean>,
): Promise<Ending> {
  const { front, req } = exchange;
  const { owner, key } = served.route;
  const pin = { snapshot: undefined, owner };
  const iterator = withPin(pin, () => source[Symbol.asyncIterator]());
  let ending: Ending | undefined;
  let wake = (): void => {};
  const stop = (why: Ending): void => {
    ending ??= why;
    exchange.abort(errors.stream_ended({ why }));
    wake();
  };
  const retire = (): void => stop('retired');
  const gone = (): void => stop('gone');
  const answer: LongAnswer = {
    stop: () => stop('closing'),
    terminate: () => void exchange.res.destroy(),
  };
  // One waiter at a time and no race against a long-lived promise, which would keep a reaction per item.
  const next = (): Promise<IteratorResult<T> | undefined> =>
    new Promise((resolve, reject) => {
      wake = () => resolve(undefined);
      if (ending === undefined) {
        withPin(pin, () => iterator.next()).then(resolve, reject);
      } else {
        wake();
      }
    });

  front.registry.leases.hold(owner);
  exchange.leaveSnapshot();
  exchange.report();
  owner.scope.signal.addEventListener('abort', retire);
  req.socket.once('close', gone);
  front.longAnswers.add(answer);
  const unwatch = watchAuthority(exchange, () => stop('expired'));
  if (owner.scope.signal.aborted || front.closing || exchange.gone) {
    stop(exchange.gone ? 'gone' : front.closing ? 'closing' : 'retired');
  }
  try {
    for (;;) {
      const step = await next();
      if (step === undefined || step.done === true) {
        return ending ?? 'done';
      }
      if (!(await deliver(step.value))) {
        stop('gone');
      }
    }
  } catch (error) {
    if (!isSvcError(error) && ending === undefined) {
      front.strike(owner, key, error);
    }
    throw error;
  } finally {
    unwatch();
    front.longAnswers.delete(answer);
    req.socket.removeListener('close', gone);
    owner.scope.signal.removeEventListener('abort', retire);
    if (ending !== undefined) {
      // A source that waits for something may never come back from this, so it is not waited for.
      withPin(pin, () => iterator.return?.())?.catch((error: unknown) =>
        front.strike(owner, key, error),
      );
    }
    front.registry.leases.release(owner);
  }
}
