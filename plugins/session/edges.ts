import { defineService, type Handle, type MaybePromise, type Principal, SvcError } from 'svc/sdk';

import type { EdgeVerifierContract, VerifiedEdge } from '../ingest/contract.ts';

/** Machines by their keys, `svc_ak_…:svc_sk_…`; whoever looks after edges vouches for them. */
export interface Edges {
  /** Whether this credential has the form of an edge's. */
  shows(credential: string): boolean;
  recognise(credential: string): MaybePromise<Principal | undefined>;
}

/** By its id: only types come from the room of pushes, so this one goes on when that is taken away. */
export const EdgeVerifier = defineService<EdgeVerifierContract>('edge.verifier');

const form = /^(svc_ak_[\w-]{1,128}):(svc_sk_[\w-]{1,256})$/;
const noGrants = Object.freeze([]);

export function createEdges(verifier: Handle<EdgeVerifierContract>): Edges {
  return {
    shows: (credential) => form.test(credential),
    recognise(credential) {
      const [, accessKey, secretKey] = form.exec(credential) ?? [];
      if (accessKey === undefined || secretKey === undefined || !verifier.available) {
        return undefined;
      }
      const edge = verifier.get().verify(accessKey, secretKey);
      return edge instanceof Promise ? edge.then(principalOf) : principalOf(edge);
    },
  };
}

function principalOf(edge: VerifiedEdge | undefined): Principal | undefined {
  if (edge?.disabled) {
    throw new SvcError('forbidden', `edge ${edge.edge_id} is disabled; enable it before it may send anything`);
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
