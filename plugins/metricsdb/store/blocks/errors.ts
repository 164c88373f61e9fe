import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('metricsdb', {
  block_layout: [
    'unavailable',
    'The metrics store has a block with layout {version}, but this svc reads layouts up to {max}; upgrade svc, or remove the block.',
  ],
});
