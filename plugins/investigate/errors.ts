import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  no_incident: ['not_found', 'There is no incident {id}.'],
  incident_gone: ['not_found', 'Incident {id} was deleted.'],
  no_evidence: ['not_found', 'Investigation {id} has no evidence {evidence}.'],
  nothing_to_judge: [
    'conflict',
    'Investigation {id} is {status}; only a finished report can be rated.',
  ],
  unknown: ['not_found', 'There is no investigation {id}.'],
});
