import { words } from '../words.ts';

export const client = words('client', {
  silent: 'svc is not responding. Try again in a moment.',
  status: 'HTTP status {status}',
});
