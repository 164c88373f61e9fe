import { defineEvent } from 'svc/sdk';

/** After the commit that ended a session or removed an API token: whatever is still open on its account should close. */
export const SessionEnded = defineEvent<{ readonly session_id: string; readonly user_id: number }>('session.ended');

/** Somebody showed a refresh token that was spent: of the two who hold it one is a thief, so both were signed out. */
export const SessionReplayed = defineEvent<{ readonly session_id: string; readonly user_id: number; readonly ip: string }>('session.replayed');
