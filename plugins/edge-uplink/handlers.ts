import type { EdgeMethod, EdgeStreamService, LocalPolicy } from 'svc/contracts/edge-uplink';
import type { OpenPoint } from 'svc/sdk';
import type { TunnelHandlers, TunnelMethod, TunnelService } from 'svc/tunnel';

/**
 * Methods and streams that this edge serves at this moment; the maps change while a session uses
 * them.
 */
export class Handlers implements TunnelHandlers {
  readonly methods = new Map<string, TunnelMethod>();
  readonly services = new Map<string, TunnelService>();
  readonly #methods: OpenPoint<EdgeMethod>;
  readonly #streams: OpenPoint<EdgeStreamService>;
  readonly #policy: LocalPolicy;

  constructor(
    methods: OpenPoint<EdgeMethod>,
    streams: OpenPoint<EdgeStreamService>,
    policy: LocalPolicy,
  ) {
    this.#methods = methods;
    this.#streams = streams;
    this.#policy = policy;
    this.#gather();
    methods.onChange(() => this.#gather());
    streams.onChange(() => this.#gather());
  }

  /** Returns the capabilities as HELLO lists them, in a fixed order. */
  caps(): readonly string[] {
    this.#gather();
    const shells = this.#policy.current().webshell && this.services.has('tcp') ? ['webshell'] : [];
    return [
      ...[...this.methods.keys()].map((name) => `call:${name}`),
      ...[...this.services.keys()].map((name) => `stream:${name}`),
      ...shells,
    ].sort();
  }

  #gather(): void {
    this.methods.clear();
    for (const { value } of this.#methods.list()) {
      this.methods.set(value.name, {
        mutating: value.mutating,
        handle: (params: unknown, { signal, idempotencyKey }) =>
          value.run(params, { signal, idempotencyKey }),
      });
    }
    this.services.clear();
    for (const { value } of this.#streams.list()) {
      this.services.set(value.name, (stream, meta) => value.open(meta, stream));
    }
  }
}
