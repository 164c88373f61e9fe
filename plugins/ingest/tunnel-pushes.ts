import type { EdgePush, EdgePushesContract } from 'svc/contracts/ingest';
import type { VerifiedEdge } from 'svc/contracts/session';
import type { Principal, RouteDeclaration } from 'svc/sdk';

import { mediaType } from './encoding.ts';
import { errors } from './errors.ts';
import type { PushCall } from './push.ts';

const noGrants = Object.freeze([]);
const ignore = (): void => undefined;

/** The routes of the data plane for what comes through the tunnels of edges: the same gate, the same stamp, the same refusals. */
export class TunnelPushes implements EdgePushesContract {
  readonly #routes: ReadonlyMap<string, RouteDeclaration>;

  constructor(routes: readonly RouteDeclaration[]) {
    this.#routes = new Map(routes.map((route) => [route.path, route]));
  }

  async push(
    edge: VerifiedEdge,
    { to, type, encoding, body }: EdgePush,
    caller: { readonly signal: AbortSignal },
  ): Promise<void> {
    const route = this.#routes.get(to);
    if (!route) {
      throw errors.no_push_route({ to: to.slice(0, 200) });
    }
    if (!route.consumes!.includes(mediaType(type).type)) {
      throw errors.media_type({ to, consumes: route.consumes!.join(', ') });
    }
    const headers = {
      'content-type': type,
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    };
    const principal = principalOf(edge);
    const quota = route.admit!({ principal, headers, announcedBytes: body.length });
    try {
      quota.reserve(body.length);
      const call: PushCall = {
        principal,
        headers,
        body,
        setHeader: ignore,
        // Made only for stores that look at it.
        get signal() {
          return caller.signal;
        },
      };
      await (route.handle as (call: PushCall) => unknown)(call);
    } finally {
      quota.release();
    }
  }
}

const principalOf = ({ edge_id: id, device_id: device }: VerifiedEdge): Principal => ({
  kind: 'edge',
  id: String(id),
  name: `edge ${id}`,
  role: 'edge',
  grants: noGrants,
  ...(device !== undefined && { device: String(device) }),
});
