import { type Static, Type } from 'typebox';

import { checkKinds } from 'svc/check';

export const ById = Type.Object({
  id: Type.String({ maxLength: 16, examples: ['5f0c9f1d3a7b2e64'] }),
});

export const ProposalShown = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum([...checkKinds]),
  target: Type.String(),
  places: Type.Array(Type.String()),
  interval_s: Type.Integer(),
  conditions: Type.Array(Type.String()),
  group: Type.String(),
  source: Type.Enum(['nginx', 'caddy', 'certificate', 'listener', 'container'], {
    description:
      'Where the agent found it: a site of nginx or Caddy, a certificate that one of them uses, a socket that listens, or labels of a container',
  }),
  agents: Type.Array(Type.String(), { description: 'Agents that found it' }),
  dismissed: Type.Boolean({ description: 'A person does not want it; it can still be taken' }),
});
export type ProposalShown = Static<typeof ProposalShown>;
