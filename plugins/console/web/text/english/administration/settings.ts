import { words } from '../../words.ts';

export const settings = words('settings', {
  title: 'Settings',
  search: 'Search settings',
  name: 'Setting',
  value: 'Value',
  source: 'Source',
  none: 'No matching settings',
  otherwise: 'Default',
  env: 'Environment variable',
  edit: 'JSON or plain text',
  hidden: 'hidden',
  fixed: 'Set by {source}, which overrides the value stored here. Change it there.',
  unset: 'Reset setting',
  kept: 'Setting reset; takes effect immediately',
  changedBy: 'Changed by',
});
