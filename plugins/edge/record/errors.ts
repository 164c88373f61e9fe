import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  no_edge: ['not_found', 'there is no edge {id}'],
});
