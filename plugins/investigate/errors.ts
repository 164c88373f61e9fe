import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  no_incident: ['not_found', 'there is no incident {id}'],
  incident_gone: ['not_found', 'incident {id} no longer exists'],
  no_evidence: ['not_found', 'investigation {id} has no evidence {evidence}'],
  nothing_to_judge: [
    'conflict',
    'investigation {id} is {status}; only a report that is ready can be judged',
  ],
  unknown: ['not_found', 'there is no investigation {id}'],
});
