import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('audit', {
  being_replaced: ['unavailable', 'the audit trail is being replaced; ask again in a moment'],
  broken_row: [
    'conflict',
    'old rows of the audit trail are kept, because row {seq} does not hold: {reason}. See "svc audit verify"',
  ],
});
