import { SvcError } from 'svc/sdk';

import type { EdgeFleet } from './contract.ts';
import type { Presence } from './connection/presence.ts';
import { type EdgeRecord, statusOf } from './record.ts';
import type { Roll } from './edge-table.ts';
import type { Tunnel } from './connection/tunnel.ts';

export function createFleet(roll: Roll, presence: Presence): EdgeFleet {
  const entryOf = (record: EdgeRecord) => ({
    id: record.id,
    name: record.name,
    status: statusOf(record),
    agent_version: record.agentVersion,
    device_id: record.deviceId,
    last_seen_at: presence.seenAt(record),
  });

  function reach(edgeId: number): Tunnel {
    const record = roll.byId(edgeId);
    if (!record) {
      throw new SvcError('not_found', `there is no edge ${edgeId}`);
    }
    if (!record.tunnel) {
      throw new SvcError('unavailable', `edge ${edgeId} (${record.name}) is offline`);
    }
    return record.tunnel;
  }

  return {
    online: () => presence.up,
    get(edgeId) {
      const record = roll.byId(edgeId);
      return record && entryOf(record);
    },
    list: () => [...roll.all()].map(entryOf),
    capabilities: (edgeId) => roll.byId(edgeId)?.tunnel?.capabilities,

    /** No async function, as in the session. */
    call<R>(edgeId: number, method: string, params: unknown, options: Parameters<EdgeFleet['call']>[3]): Promise<R> {
      try {
        const { session, capabilities } = reach(edgeId);
        if (!capabilities.methods.includes(method)) {
          throw new SvcError('unavailable', `edge ${edgeId} does not offer ${method}; its agent is too old, or its owner does not allow it`);
        }
        return session.call<R>(method, params, options);
      } catch (error) {
        return Promise.reject(error);
      }
    },

    async openStream(edgeId, service, meta, options) {
      const { session, capabilities } = reach(edgeId);
      if (!capabilities.streams.includes(service)) {
        throw new SvcError('unavailable', `edge ${edgeId} does not offer streams to ${service}; its agent is too old, or its owner does not allow it`);
      }
      return await session.open(service, meta, options);
    },
  };
}
