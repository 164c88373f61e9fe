import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  no_agent: ['not_found', 'There is no agent {name}; GET /api/v1/agents lists all agents.'],
  unmet: ['conflict', 'Agent {name} cannot run here: {unmet}'],
});
