import { type Principal, type RouteDeclaration, SvcError } from 'svc/sdk';

import type { VerifiedEdge } from '../session/contract.ts';
import type { EdgePushesContract } from './contract.ts';
import { mediaType } from './encoding.ts';
import type { PushCall } from './push.ts';

const noGrants = Object.freeze([]);
const ignore = (): void => undefined;

/** The routes of the data plane for what comes through the tunnels of edges: the same gate, the same stamp, the same refusals. */
export function createEdgePushes(routes: readonly RouteDeclaration[]): EdgePushesContract {
  const byPath = new Map(routes.map((route) => [route.path, route]));

  return {
    async push(edge, { to, type, encoding, body }, call) {
      const route = byPath.get(to);
      if (!route) {
        throw new SvcError('not_found', `nothing is pushed to ${to.slice(0, 200)}`);
      }
      if (!route.consumes!.includes(mediaType(type).type)) {
        throw new SvcError('invalid_argument', `${to} takes ${route.consumes!.join(', ')}`, { status: 415 });
      }
      const headers = { 'content-type': type, ...(encoding !== undefined && { 'content-encoding': encoding }) };
      const principal = principalOf(edge);
      const passage = route.admit!({ principal, headers, announcedBytes: body.length });
      try {
        passage.take(body.length);
        const pushed: PushCall = {
          ...{ principal, headers, body, setHeader: ignore },
          get signal() {
            return call.signal;
          },
        };
        await (route.handle as (call: PushCall) => unknown)(pushed);
      } finally {
        passage.leave();
      }
    },
  };
}

const principalOf = ({ edge_id: id, device_id: device }: VerifiedEdge): Principal => ({
  ...{ kind: 'edge', id: String(id), name: `edge ${id}`, role: 'edge', grants: noGrants },
  ...(device !== undefined && { device: String(device) }),
});
