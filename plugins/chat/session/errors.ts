import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  not_yours: [
    'forbidden',
    'This session belongs to another user; create your own with POST /api/v1/chat/sessions.',
  ],
  no_session: ['not_found', 'There is no session {id}.'],
  session_open: [
    'conflict',
    'This session has an active run; cancel it or decide its approvals, then delete the session.',
  ],
});
