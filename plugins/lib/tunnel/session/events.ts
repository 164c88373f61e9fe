import { TokenBucket } from 'svc/flow';
import { messageOf } from 'svc/sdk';

import { parseBody, text } from '../message/body.ts';
import { frameType } from '../message/frames.ts';
import { errors } from './errors.ts';
import type { Wire } from './wire.ts';

/** The events of one session, both ways: few enough, or counted and lost. */
export class Events {
  readonly #wire: Wire;
  #sent: TokenBucket | undefined;
  #received: TokenBucket | undefined;
  #warned = false;
  dropped = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  emit(event: string, payload: unknown): boolean {
    const { highBytes, bodyBytes, eventsPerSecond, eventBurst } = this.#wire.limits;
    const now = this.#now();
    this.#sent ??= new TokenBucket(eventBurst, now);
    if (
      this.#wire.bufferedBytes > highBytes ||
      !this.#sent.take(eventsPerSecond, eventBurst, now)
    ) {
      this.dropped += 1;
      return false;
    }
    const body = JSON.stringify({ e: event, p: payload });
    if (Buffer.byteLength(body) > bodyBytes) {
      throw errors.event_too_large({ bodyBytes });
    }
    this.#wire.send(frameType.event, 0, body);
    return true;
  }

  hear(payload: Buffer): void {
    const { options, limits, session } = this.#wire;
    const { log, label, handlers } = options;
    const now = this.#now();
    this.#received ??= new TokenBucket(limits.eventBurst, now);
    if (!this.#received.take(limits.eventsPerSecond, limits.eventBurst, now)) {
      this.dropped += 1;
      if (!this.#warned) {
        this.#warned = true;
        log.warn(
          { event: 'tunnel.events_dropped', tunnel: label, per_second: limits.eventsPerSecond },
          'peer exceeded its event limit; dropping further events',
        );
      }
      return;
    }
    const body = parseBody(payload, limits.jsonDepth);
    const name = text(body, 'e', 128);
    try {
      handlers?.events?.get(name)?.(body['p'], session);
    } catch (error) {
      log.error(
        { event: 'tunnel.listener_failed', tunnel: label, topic: name, cause: messageOf(error) },
        'event listener threw; event lost',
      );
    }
  }

  #now(): number {
    return this.#wire.options.sweeper.clock.monotonic();
  }
}
