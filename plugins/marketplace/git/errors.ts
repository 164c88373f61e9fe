import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('marketplace', {
  no_ref: ['not_found', 'The repository has no branch or tag "{ref}".'],
});
