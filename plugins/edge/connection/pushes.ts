import type { EdgePushesContract } from 'svc/contracts/ingest';
import type { PushParams } from 'svc/edge-protocol';
import type { Handle, Settings } from 'svc/sdk';
import type { InboundCall, TunnelMethod, TunnelSession } from 'svc/tunnel';

import type { EdgeRecord } from '../record/record.ts';
import { errors } from './errors.ts';

export interface PushParts {
  readonly owners: ReadonlyMap<TunnelSession, EdgeRecord>;
  readonly ingest: Handle<EdgePushesContract>;
  readonly settings: Settings;
}

/** Pushes of edges through their tunnels: without a connection, keys or an HTTP request each. */
export class Pushes {
  readonly method: TunnelMethod = { handle: (params: unknown, call) => this.#push(params, call) };
  readonly #owners: ReadonlyMap<TunnelSession, EdgeRecord>;
  readonly #ingest: Handle<EdgePushesContract>;
  readonly #settings: Settings;

  constructor({ owners, ingest, settings }: PushParts) {
    this.#owners = owners;
    this.#ingest = ingest;
    this.#settings = settings;
  }

  /** True if edges that connect now should push this way. */
  get taken(): boolean {
    return this.#ingest.available && this.#settings.get<boolean>('edge.tunnel_pushes');
  }

  async #push(params: unknown, call: InboundCall): Promise<object> {
    const record = this.#owners.get(call.session);
    if (!record) {
      throw errors.connection_over();
    }
    const { to, type, encoding, body } = readPush(params);
    if (record.conflict) {
      throw errors.conflict({ id: record.id });
    }
    const edge = {
      edge_id: record.id,
      ...(record.deviceId !== null && { device_id: record.deviceId }),
    };
    await this.#ingest.get().push(edge, { to, type, encoding, body: decoded(body) }, call);
    return {};
  }
}

/**
 * Decodes into separate memory, which can move to the thread of a store: a small Buffer that Node
 * sliced from a larger one would copy all eight kilobytes.
 */
function decoded(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, 'base64'));
  return bytes.subarray(0, bytes.write(text, 'base64'));
}

function readPush(params: unknown): PushParams {
  const { to, type, encoding, body } = (params ?? {}) as Partial<Record<keyof PushParams, unknown>>;
  if (
    typeof to !== 'string' ||
    typeof type !== 'string' ||
    typeof body !== 'string' ||
    (encoding !== undefined && typeof encoding !== 'string')
  ) {
    throw errors.push_form();
  }
  return { to, type, encoding, body };
}
