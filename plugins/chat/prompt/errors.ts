import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  no_agent: [
    'not_found',
    'there is no agent {name}; GET /api/v1/agents lists those that there are',
  ],
  unmet: ['conflict', 'agent {name} cannot work here: {unmet}'],
});
