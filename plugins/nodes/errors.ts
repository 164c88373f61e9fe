import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('nodes', {
  no_postgres: [
    'conflict',
    'This svc keeps its data in its data folder, so it has no other nodes: docs/postgres.md says how to move the data to Postgres.',
  ],
});
