import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  no_incident: ['not_found', 'There is no incident {id}.'],
  incident_gone: ['not_found', 'Incident {id} was deleted.'],
  no_evidence: ['not_found', 'Investigation {id} has no evidence {evidence}.'],
  nothing_to_judge: [
    'conflict',
    'Investigation {id} is {status}; only a finished report can be rated.',
  ],
  not_of_one_device: [
    'forbidden',
    'Incident {id} belongs to a rule that does not cover individual hosts; ask an administrator.',
  ],
  queue_full: ['rate_limited', '{max} investigations are already waiting; try again in a minute.'],
  too_many_asked: [
    'rate_limited',
    'An account may start at most {max} investigations in ten minutes; try again in {seconds} s.',
  ],
  unknown: ['not_found', 'There is no investigation {id}.'],
});
