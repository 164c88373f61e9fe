import type { OpenPoint } from 'svc/sdk';
import type { TunnelHandlers, TunnelMethod, TunnelService } from 'svc/tunnel';

import type { EdgeMethod, EdgeStreamService, LocalPolicy } from './contract.ts';

/** What this edge serves at this moment; the maps change while a session uses them. */
export interface Handlers extends TunnelHandlers {
  /** As HELLO tells them, in a fixed order. */
  caps(): readonly string[];
}

export function createHandlers(methods: OpenPoint<EdgeMethod>, streams: OpenPoint<EdgeStreamService>, policy: LocalPolicy): Handlers {
  const serving = { methods: new Map<string, TunnelMethod>(), services: new Map<string, TunnelService>() };

  function gather(): void {
    serving.methods.clear();
    for (const { value } of methods.list()) {
      serving.methods.set(value.name, {
        mutating: value.mutating,
        handle: (params: unknown, { signal, idempotencyKey }) => value.run(params, { signal, idempotencyKey }),
      });
    }
    serving.services.clear();
    for (const { value } of streams.list()) {
      serving.services.set(value.name, (stream, meta) => value.open(meta, stream));
    }
  }

  gather();
  methods.onChange(gather);
  streams.onChange(gather);
  return {
    ...serving,
    caps() {
      gather();
      const shells = policy.current().webshell && serving.services.has('tcp') ? ['webshell'] : [];
      return [...[...serving.methods.keys()].map((name) => `call:${name}`), ...[...serving.services.keys()].map((name) => `stream:${name}`), ...shells].sort();
    },
  };
}
