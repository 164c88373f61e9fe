import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  no_incident: ['not_found', 'there is no incident {id}'],
  incident_gone: ['not_found', 'incident {id} no longer exists'],
  no_evidence: ['not_found', 'investigation {id} has no evidence {evidence}'],
  nothing_to_judge: [
    'conflict',
    'investigation {id} is {status}; only a report that is ready can be judged',
  ],
  not_of_one_device: [
    'forbidden',
    'incident {id} is of a rule that is not about single hosts; ask an administrator',
  ],
  queue_full: ['rate_limited', '{max} investigations wait already; try again in a minute'],
  too_many_asked: [
    'rate_limited',
    'an account starts at most {max} investigations in ten minutes; try again in {seconds} s',
  ],
  unknown: ['not_found', 'there is no investigation {id}'],
});
