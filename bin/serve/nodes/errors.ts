import { defineErrors } from '../../../core/sdk/index.ts';

export const errors = defineErrors('node', {
  stands_by: ['unavailable', 'Another node owns the data.'],
  not_owner: [
    'unavailable',
    'This node cannot confirm that it still owns the data: its lease has ended. It serves again once Postgres confirms it.',
  ],
  no_key: [
    'invalid_argument',
    'The data in Postgres belong to an installation whose key {file} does not hold: run "svc node token" on a node of it, and "svc node join TOKEN" here.',
  ],
  no_wire: [
    'unavailable',
    'Listening for other nodes at {place} failed ({cause}); set node.addr to an address of this machine that the others reach, with a free port.',
  ],
  owner_away: [
    'unavailable',
    'The owner of the data cannot be reached ({cause}); another node takes over if it stays away.',
  ],
  identity: [
    'invalid_argument',
    '{file} is damaged: restore it from a backup, or delete it; this machine then counts as a new node.',
  ],
});
