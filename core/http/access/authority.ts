import { principalKey } from '../../auth/index.ts';
import { messageOf } from '../../sdk/index.ts';
import { identify } from './authenticate.ts';
import { mayCall } from './authorize.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** Checks in a row that may fail before the stream is ended. */
const maxUnanswered = 3;

/** Asks again and again whether the caller of a long-lived call may still be here; the returned function ends it. */
export function watchAuthority(exchange: Exchange, ended: () => void): () => void {
  const { front, credential, served } = exchange;
  if (credential === undefined || served!.route.declaration.access === 'public') {
    return () => undefined;
  }
  let unanswered = 0;
  let asking = false;
  const round = async (): Promise<void> => {
    if (asking) {
      return;
    }
    asking = true;
    try {
      if (!(await mayStay(exchange))) {
        ended();
      }
      unanswered = 0;
    } catch (error) {
      unanswered += 1;
      front.log.warn(
        {
          event: 'http.recheck_failed',
          request_id: exchange.requestId,
          route: exchange.label,
          cause: messageOf(error),
        },
        "failed to recheck the permissions of a stream's caller; will retry",
      );
      if (unanswered >= maxUnanswered) {
        ended();
      }
    } finally {
      asking = false;
    }
  };
  const timer = setInterval(() => void round(), front.limits.recheckMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The same principal as at the beginning, who still sees the same devices, under the grants of today. */
async function mayStay({
  front,
  credential,
  principal,
  served,
  params,
}: Exchange): Promise<boolean> {
  const { leases, current } = front.registry;
  leases.pin(current);
  try {
    // A ticket is spent by its first use; what it stood for cannot be asked again.
    if (credential!.scheme === 'ticket') {
      return true;
    }
    const known = await identify(front, current, credential!);
    const same =
      principalKey(known) === principalKey(principal) &&
      JSON.stringify(known.selectors) === JSON.stringify(principal.selectors);
    return same && mayCall(known, served!.route, params);
  } finally {
    leases.unpin(current);
  }
}
