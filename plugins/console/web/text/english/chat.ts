import { words } from '../words.ts';

export const chat = words('chat', {
  title: 'Ask',
  sessions: 'Conversations',
  new: 'New conversation',
  none: 'Nothing was asked yet.',
  noneNote:
    'Ask what is wrong, what has changed, or what a host does. Agents answer from what the fleet says now.',
  message: 'Message',
  hint: 'Ask about the fleet. @ names a device or an incident.',
  send: 'Send',
  stop: 'Stop',
  you: 'You',
  agent: 'Agent',
  waits: 'This waits for a signature.',
  sign: 'Look at it',
  works: 'Works…',
  remove: 'Remove',
  removed: 'The conversation is gone.',
});
