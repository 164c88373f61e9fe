import type { CredentialVerifiers, VerifiedEdge } from 'svc/contracts/session';
import type { MaybePromise, OpenPoint, Principal } from 'svc/sdk';

import { errors } from './errors.ts';

const edgeKey = /^(svc_ak_[\w-]{1,128}):(svc_sk_[\w-]{1,256})$/;
const noGrants = Object.freeze([]);

/** Credentials that other plugins vouch for. Each sees only those of its own form, and none while its plugin is away is valid. */
export class Vouched {
  readonly #point: OpenPoint<unknown>;

  constructor(point: OpenPoint<CredentialVerifiers[keyof CredentialVerifiers]>) {
    this.#point = point;
  }

  ticket(
    value: string,
    shown: { readonly ip: string; readonly path: string },
  ): Principal | undefined {
    return this.#verifier('ticket')?.recognise(value, shown);
  }

  /** Returns whether a credential has the form of an edge's keys, `svc_ak_…:svc_sk_…`. */
  isEdgeKey(credential: string): boolean {
    return edgeKey.test(credential);
  }

  edge(credential: string): MaybePromise<Principal | undefined> {
    const [, accessKey, secretKey] = edgeKey.exec(credential) ?? [];
    if (accessKey === undefined || secretKey === undefined) {
      return undefined;
    }
    const edge = this.#verifier('edge-key')?.recognise(accessKey, secretKey);
    return edge instanceof Promise ? edge.then(edgePrincipal) : edgePrincipal(edge);
  }

  #verifier<Kind extends keyof CredentialVerifiers>(
    kind: Kind,
  ): CredentialVerifiers[Kind] | undefined {
    return this.#point.list().find(({ id }) => id === kind)?.value as
      | CredentialVerifiers[Kind]
      | undefined;
  }
}

/**
 * Returns the principal of an edge, whose permissions follow from its being one, never from what
 * its verifier says.
 */
function edgePrincipal(edge: VerifiedEdge | undefined): Principal | undefined {
  if (edge?.disabled) {
    throw errors.edge_disabled({ edge: edge.edge_id });
  }
  return (
    edge && {
      kind: 'edge',
      id: String(edge.edge_id),
      name: `edge ${edge.edge_id}`,
      role: 'edge',
      grants: noGrants,
      ...(edge.device_id !== undefined && { device: String(edge.device_id) }),
    }
  );
}
