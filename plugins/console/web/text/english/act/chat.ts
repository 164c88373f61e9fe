import { words } from '../../words.ts';

export const chat = words('chat', {
  title: 'Chat',
  sessions: 'Conversations',
  new: 'New conversation',
  none: 'No messages yet',
  noneNote:
    'Ask what is wrong, what changed, or what a host is doing. Agents answer from live data.',
  message: 'Message',
  hint: 'Ask about your fleet. Type @ to mention a device or an incident.',
  send: 'Send',
  stop: 'Stop',
  you: 'You',
  agent: 'Agent',
  waits: 'This change is waiting for approval.',
  sign: 'Review approval',
  works: 'Working…',
});
