import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('chat', {
  not_yours: [
    'forbidden',
    'session belongs to another person; open your own with POST /api/v1/chat/sessions',
  ],
  no_session: ['not_found', 'there is no session {id}'],
  session_open: [
    'conflict',
    'a run of this session is not over; cancel it, or decide its approvals, and delete the session then',
  ],
});
