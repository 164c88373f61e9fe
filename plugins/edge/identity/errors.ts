import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_conflict: ['conflict', 'Edge {id} has no conflict.'],
  own_machine_online: [
    'conflict',
    'Edge {id} is already online from another machine; stop the agent there first, or rotate the secret to lock that machine out.',
  ],
  secret_not_taken: [
    'conflict',
    'Edge {id} has not yet accepted its latest secret; wait until it has, or use "immediate".',
  ],
  grace: ['invalid_argument', '"grace" must be at most 24h.'],
  immediate_and_grace: [
    'invalid_argument',
    '"immediate" and "grace" are mutually exclusive: leave one out.',
  ],
  too_many_edges: [
    'conflict',
    'The limit of {maxEdges} edges has been reached; delete some that you no longer need.',
  ],
});
