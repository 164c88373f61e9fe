import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  no_answer: ['not_found', 'The session {id} has no such answer.'],
  empty_answer: ['conflict', 'The answer is empty, so that there is nothing to keep.'],
  which_incident: [
    'invalid_argument',
    'The session is about no incident; say which one with incident_id.',
  ],
  which_path: [
    'invalid_argument',
    'Say where to save the document with path, such as notes/disk.md.',
  ],
  may_not_keep: ['forbidden', 'Saving an answer as {as} requires the permission {right}.'],
  no_share: [
    'not_found',
    'This link does not exist, has expired, or shows an answer about devices or documents that you may not see.',
  ],
});
