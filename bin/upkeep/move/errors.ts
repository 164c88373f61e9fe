import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('move', {
  table_form: [
    'conflict',
    'the table {table} {problem}, so its rows cannot be compared; the move cannot take it along',
  ],
  target_taken: [
    'conflict',
    '{place} already holds data of svc: name another schema with "?search_path=…", or remove that data first',
  ],
  rows_differ: [
    'conflict',
    'the table {table} in {target} differs from {source}: {problem}. Check that no other program writes to {target}, and run the command again',
  ],
  source_busy: [
    'unavailable',
    '{place} is being written to: stop every svc that uses it, then run the command again',
  ],
  no_source: ['not_found', '{place} holds no data of svc: check SVC_DATABASE_URL'],
});
