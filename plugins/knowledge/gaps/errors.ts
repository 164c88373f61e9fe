import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  no_gap: ['not_found', 'There is no search {id}; GET /api/v1/knowledge/gaps lists them.'],
});
