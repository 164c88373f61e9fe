import { withPin } from '../../registry/index.ts';
import { isSvcError, type RequestHeaders, SvcError } from '../../sdk/index.ts';
import type { Exchange } from './exchange.ts';
import type { Served } from '../routes/route-table.ts';

/** Asks the route whether this body may come in, when it has a say in that; the passage ends with the call. */
export function enter(exchange: Exchange, served: Served): void {
  const { admit } = served.route.declaration;
  if (admit === undefined) {
    return;
  }
  const { principal, req } = exchange;
  const length = req.headers['content-length'];
  const arrival = { principal, headers: req.headers as RequestHeaders, announcedBytes: length === undefined ? undefined : Number(length) };
  const passage = onAccount(exchange, served, () => admit(arrival));
  exchange.passage = {
    take: (bytes) => onAccount(exchange, served, () => passage.take(bytes)),
    leave: () => onAccount(exchange, served, () => passage.leave()),
  };
}

function onAccount<R>({ front }: Exchange, { route, pin }: Served, work: () => R): R {
  try {
    return withPin(pin, work);
  } catch (error) {
    if (isSvcError(error)) {
      throw error;
    }
    front.strike(route.owner, route.key, error);
    throw new SvcError('internal', 'the body could not be let in', { cause: error });
  }
}
