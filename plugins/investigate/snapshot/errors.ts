import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  snapshot_gone: [
    'not_found',
    'what investigation {id} knew is not kept any more; start a new one',
  ],
});
