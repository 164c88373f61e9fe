import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_conflict: ['conflict', 'edge {id} is in no conflict'],
  own_machine_online: [
    'conflict',
    'edge {id} is online with its own machine; stop the agent there first, or rotate the secret to shut the other one out',
  ],
  secret_not_taken: [
    'conflict',
    'edge {id} has not taken its last new secret yet; wait until it has, or ask for "immediate"',
  ],
  grace: ['invalid_argument', 'grace is at most 24h'],
  immediate_and_grace: [
    'invalid_argument',
    '"immediate" and "grace" exclude each other: the old secret dies now, or at the end of the grace',
  ],
  too_many_edges: [
    'conflict',
    'the limit of {maxEdges} edges is reached; delete edges that no longer exist',
  ],
});
