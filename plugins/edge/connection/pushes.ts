import { type Handle, type Settings, SvcError } from 'svc/sdk';
import type { TunnelMethod, TunnelSession } from 'svc/tunnel';

import type { EdgePushesContract } from '../../ingest/contract.ts';
import type { PushParams } from '../contract.ts';
import type { EdgeRecord } from '../record.ts';

/** What edges push through their tunnels: no connection, no keys and no request of HTTP for each. */
export interface Pushes {
  /** Whether edges that connect at this moment should push this way. */
  readonly taken: boolean;
  readonly method: TunnelMethod;
}

export function createPushes(owners: ReadonlyMap<TunnelSession, EdgeRecord>, door: Handle<EdgePushesContract>, settings: Settings): Pushes {
  return {
    get taken() {
      return door.available && settings.get<boolean>('edge.tunnel_pushes');
    },
    method: {
      async handle(params: unknown, call) {
        const record = owners.get(call.session);
        if (!record) {
          throw new SvcError('unavailable', 'this connection serves no edge any more');
        }
        const { to, type, encoding, body } = readPush(params);
        if (record.conflict) {
          throw new SvcError('forbidden', 'several machines use the keys of this edge; a person has to say which one it is');
        }
        const edge = { edge_id: record.id, ...(record.deviceId !== null && { device_id: record.deviceId }) };
        await door.get().push(edge, { to, type, encoding, body: decoded(body) }, call);
        return {};
      },
    },
  };
}

/** In memory of its own, which can move to the thread of a store: of a small Buffer that Node cut from a larger one, all eight kilobytes would be copied. */
function decoded(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, 'base64'));
  return bytes.subarray(0, bytes.write(text, 'base64'));
}

function readPush(params: unknown): PushParams {
  const { to, type, encoding, body } = (params ?? {}) as Partial<Record<keyof PushParams, unknown>>;
  if (typeof to !== 'string' || typeof type !== 'string' || typeof body !== 'string' || (encoding !== undefined && typeof encoding !== 'string')) {
    throw new SvcError('invalid_argument', 'a push has the texts "to", "type" and "body", and may have an "encoding"');
  }
  return { to, type, encoding, body };
}
