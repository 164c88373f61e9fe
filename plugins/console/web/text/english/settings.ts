import { words } from '../words.ts';

export const settings = words('settings', {
  title: 'Settings',
  search: 'Search settings',
  name: 'Setting',
  value: 'Value',
  source: 'From',
  none: 'No setting is called so.',
  otherwise: 'Otherwise',
  env: 'In the environment',
  edit: 'A value as JSON, or plain text',
  hidden: 'kept secret',
  fixed: 'It is set by {source}, which has the say over what is kept here.',
  unset: 'Back to the file or default',
  kept: 'Kept; it is in force at once.',
  changedBy: 'Changed by',
});
