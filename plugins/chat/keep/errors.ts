import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  no_answer: [
    'not_found',
    'Session {id} has no answer with this message_id, or no answer that says anything.',
  ],
  empty_answer: ['conflict', 'The answer is empty, so there is nothing to save or share.'],
  which_incident: [
    'invalid_argument',
    'The session does not belong to an incident; specify one with incident_id.',
  ],
  which_path: [
    'invalid_argument',
    'Specify with path where to save the document, such as notes/disk.md.',
  ],
  may_not_keep: ['forbidden', 'Saving an answer as {as} requires the permission {right}.'],
  no_share: [
    'not_found',
    'This link does not exist, has expired, or shows an answer about devices or documents that you are not allowed to see.',
  ],
});
