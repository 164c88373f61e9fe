import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  block_layout: [
    'unavailable',
    'metrics store: a block has layout {version}, this svc reads up to {max}; upgrade svc, or remove the block',
  ],
});
