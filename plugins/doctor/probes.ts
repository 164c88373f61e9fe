import {
  type Clock,
  eventRoute,
  type Ids,
  route,
  type RouteDeclaration,
  type Scope,
  type ServerEvent,
  socketRoute,
} from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';

const liveMs = 60_000;
const mostProbes = 16;
const words = ['one', 'two', 'three'] as const;
/** Longer than an answer takes on its way, so that words that come together have been held back. */
const betweenMs = 400;

const Probe = Type.Object({
  probe: Type.String({ pattern: '^[\\w-]{32}$', examples: ['x9vK3bq0cZ1mT7wR5yLp2sD8fGhJ4kNa'] }),
});

/**
 * Probes of the proxy in front of svc. Only from outside can it be tested whether streams and
 * sockets pass, and no token should be sent there: a permitted user requests a probe, which opens
 * an echo for a minute, and nothing else.
 */
export class Probes {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #scope: Scope;
  readonly #until = new Map<string, number>();

  constructor({
    clock,
    ids,
    scope,
  }: {
    readonly clock: Clock;
    readonly ids: Ids;
    readonly scope: Scope;
  }) {
    this.#clock = clock;
    this.#ids = ids;
    this.#scope = scope;
  }

  routes(): readonly RouteDeclaration[] {
    return [
      route({
        method: 'POST',
        path: '/api/v1/doctor/probes',
        access: 'admin',
        summary: 'Open an echo endpoint for a minute, to test a proxy',
        response: Type.Object({ probe: Type.String() }),
        audited: false,
        errors: ['rate_limited'],
        handle: () => ({ probe: this.#open() }),
      }),
      eventRoute({
        method: 'GET',
        path: '/api/v1/doctor/probes/{probe}/stream',
        access: 'public',
        summary: 'Stream three words one after another, to detect a buffering proxy',
        params: Probe,
        errors: ['not_found'],
        handle: ({ params, signal }) => {
          this.#assertOpen(params.probe);
          return this.#said(signal);
        },
      }),
      socketRoute({
        path: '/api/v1/doctor/probes/{probe}/socket',
        access: 'public',
        summary: 'Echo a message once',
        params: Probe,
        maxMessageBytes: 100,
        errors: ['not_found'],
        knock: ({ params }) => this.#assertOpen(params.probe),
        handle: (_call, { onMessage, onClose, send, close }) => {
          onMessage((told) => {
            send(told);
            close(1000);
          });
          const late = this.#scope.timeout('end a probe', liveMs, () => close(1000));
          onClose(() => void late());
        },
      }),
    ];
  }

  #open(): string {
    const now = this.#clock.monotonic();
    [...this.#until]
      .filter(([, until]) => until <= now)
      .forEach(([probe]) => this.#until.delete(probe));
    if (this.#until.size >= mostProbes) {
      throw errors.too_many_probes({ retryAfterSeconds: liveMs / 1_000 });
    }
    const probe = this.#ids.token(24);
    this.#until.set(probe, now + liveMs);
    return probe;
  }

  #assertOpen(probe: string): void {
    if ((this.#until.get(probe) ?? 0) <= this.#clock.monotonic()) {
      throw errors.no_probe();
    }
  }

  async *#said(signal: AbortSignal): AsyncIterable<ServerEvent> {
    for (const [at, word] of words.entries()) {
      if (at > 0) {
        await this.#pause(signal);
      }
      if (signal.aborted) {
        return;
      }
      yield { event: 'word', data: word };
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await new Promise<void>((next) => {
      const cancel = this.#scope.timeout('the next word of a probe', betweenMs, () => next());
      const leave = (): void => {
        void cancel();
        next();
      };
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
