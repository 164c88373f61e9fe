import type { EdgeCall, EdgeCapabilities, EdgeEntry, EdgeFleet } from 'svc/contracts/edge';
import { isSvcError } from 'svc/sdk';
import type { TunnelStream } from 'svc/tunnel';

import { errors } from './errors.ts';
import type { Presence } from './presence/presence.ts';
import type { EdgeTable } from './record/edge-table.ts';
import { errors as recordErrors } from './record/errors.ts';
import { type EdgeRecord, statusOf } from './record/record.ts';
import type { Tunnel } from './record/tunnel.ts';

/** The edges as other plugins see and reach them. */
export class Fleet implements EdgeFleet {
  readonly #edgeTable: EdgeTable;
  readonly #presence: Presence;

  constructor(edgeTable: EdgeTable, presence: Presence) {
    this.#edgeTable = edgeTable;
    this.#presence = presence;
  }

  online(): ReadonlySet<number> {
    return this.#presence.up;
  }

  present(): ReadonlySet<number> {
    return new Set([...this.#edgeTable.all()].filter(({ online }) => online).map(({ id }) => id));
  }

  get(edgeId: number): EdgeEntry | undefined {
    const record = this.#edgeTable.byId(edgeId);
    return record && this.#entryOf(record);
  }

  list(): EdgeEntry[] {
    return [...this.#edgeTable.all()].map((record) => this.#entryOf(record));
  }

  capabilities(edgeId: number): EdgeCapabilities | undefined {
    return this.#edgeTable.byId(edgeId)?.tunnel?.capabilities;
  }

  /** No async function, as in the session. */
  call<R>(edgeId: number, method: string, params: unknown, options: EdgeCall): Promise<R> {
    try {
      const { session, capabilities } = this.#tunnelOf(edgeId);
      if (!capabilities.methods.includes(method)) {
        throw errors.no_method({ edgeId, method });
      }
      return session
        .call<R>(method, params, options)
        .catch((error: unknown) => Promise.reject(asTold(edgeId, error)));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async openStream(
    edgeId: number,
    service: string,
    meta: unknown,
    options?: { readonly timeoutMs?: number },
  ): Promise<TunnelStream> {
    const { session, capabilities } = this.#tunnelOf(edgeId);
    if (!capabilities.streams.includes(service)) {
      throw errors.no_stream({ edgeId, service });
    }
    return await session.open(service, meta, options);
  }

  #entryOf(record: EdgeRecord): EdgeEntry {
    return {
      id: record.id,
      name: record.name,
      status: statusOf(record),
      agent_version: record.agentVersion,
      device_id: record.deviceId,
      last_seen_at: this.#presence.seenAt(record),
    };
  }

  #tunnelOf(edgeId: number): Tunnel {
    const record = this.#edgeTable.byId(edgeId);
    if (!record) {
      throw recordErrors.no_edge({ id: edgeId });
    }
    if (!record.tunnel) {
      throw errors.offline({ edgeId, name: record.name });
    }
    return record.tunnel;
  }
}

/** Translates an error raised at an edge, which is no failure of this service or its caller. */
function asTold(edgeId: number, error: unknown): unknown {
  const isTheirs =
    isSvcError(error) && (error.code === 'internal' || error.code === 'unauthorized');
  return isTheirs ? errors.call_failed({ edgeId, cause: error.message }, { cause: error }) : error;
}
