import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('upkeep', {
  no_data: [
    'not_found',
    '{dataDir} is not an svc data folder: specify the folder with --data or SVC_DATA_DIR',
  ],
});
