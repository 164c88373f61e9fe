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
  token_form: [
    'invalid_argument',
    'This is not a token for joining: copy the whole line that "svc node token" prints.',
  ],
  token_used: [
    'conflict',
    'This token has been used: each is for one machine. Run "svc node token" again.',
  ],
  token_expired: ['conflict', 'This token has expired, after an hour: run "svc node token" again.'],
  token_refused: [
    'unauthorized',
    'The node at {place} does not know this token ({cause}): it was copied in part, or another node owns the data since. Run "svc node token" again.',
  ],
  unreachable: [
    'unavailable',
    'The node at {place} cannot be reached ({cause}): check that it runs and that its node.addr is open for this machine.',
  ],
  joined: [
    'conflict',
    '{file} exists: this data folder belongs to an installation already. Choose an empty one with --data.',
  ],
  no_addr: [
    'conflict',
    'This node has no address for others: set node.addr (SVC_NODE_ADDR) to one of this machine, such as 10.0.0.11:7443, and start svc again.',
  ],
  no_successor: [
    'conflict',
    'No other node could take over from {id}: start one, or resume one that is drained.',
  ],
  still_there: [
    'conflict',
    'The node {id} is running: stop svc on it first, and remove it 10 s later.',
  ],
  unknown: ['not_found', 'There is no node {id}: "svc node list" shows those there are.'],
  identity: [
    'invalid_argument',
    '{file} is damaged: restore it from a backup, or delete it; this machine then counts as a new node.',
  ],
});
