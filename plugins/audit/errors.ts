import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('audit', {
  being_replaced: ['unavailable', 'The audit log plugin is being replaced; try again in a moment.'],
  broken_row: [
    'conflict',
    'Old audit log rows were not deleted, because row {seq} is invalid: {reason}. Run "svc audit verify".',
  ],
});
