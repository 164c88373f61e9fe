import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('upkeep', {
  no_data: [
    'not_found',
    '{dataDir} is not a data folder of svc: name it with --data or SVC_DATA_DIR',
  ],
});
