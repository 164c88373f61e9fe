import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_edge: ['not_found', 'There is no edge {id}.'],
});
