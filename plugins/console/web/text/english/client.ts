import { words } from '../words.ts';

export const client = words('client', {
  silent: 'svc is not responding. Check that it is running and reachable, then try again.',
  status: 'svc answered with HTTP status {status}.',
});
