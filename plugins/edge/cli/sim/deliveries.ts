import { isSvcError, messageOf } from 'svc/sdk';
import type { MessageTransport, TunnelSession } from 'svc/tunnel';
import { type Push, pushByRequest, pushThrough } from './push.ts';
import type { Shared } from './shared.ts';

export interface Way {
  /** The tunnel, where the manager takes pushes through it. */
  readonly session: TunnelSession | undefined;
  readonly transport: MessageTransport | undefined;
  /** Address of requests, where it does not. */
  readonly manager: URL;
  readonly authorization: string;
  /** Breaks off on purpose. */
  readonly cut: boolean;
}

/**
 * Deliveries of one host. One push of a signal is in flight at a time, as in agents; what is
 * measured meanwhile is not sent.
 */
export class Deliveries {
  readonly #shared: Shared;
  readonly #underWay = new Set<string>();

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  async send(push: Push, way: Way, taken: (tally: Shared['tally']) => void): Promise<void> {
    const { tally, clock, signal } = this.#shared;
    if (this.#underWay.has(push.to)) {
      tally.pushesSkipped += 1;
      return;
    }
    this.#underWay.add(push.to);
    const begun = clock.monotonic();
    try {
      await this.#deliver(push, way);
      tally.pushTimes.add(clock.monotonic() - begun);
      tally.pushesOk += 1;
      taken(tally);
    } catch (error) {
      if (!signal.aborted && !way.cut) {
        const limited = isSvcError(error) && error.code === 'rate_limited';
        tally.pushesLimited += limited ? 1 : 0;
        tally.pushesFailed += limited ? 0 : 1;
        tally.problem = messageOf(error);
      }
    } finally {
      this.#underWay.delete(push.to);
    }
  }

  #deliver(push: Push, { session, transport, manager, authorization, cut }: Way): Promise<void> {
    const { plane, signal } = this.#shared;
    return session
      ? pushThrough(session, push, cut ? () => transport?.terminate() : undefined)
      : pushByRequest(plane, push, { manager, authorization, cut, signal });
  }
}
