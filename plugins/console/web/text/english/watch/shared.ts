import { words } from '../../words.ts';

export const shared = words('shared', {
  until: 'Shared until {time}',
  ended: 'This dashboard cannot be shown',
  close: 'Close {title}',
  open: 'Open {title}',
});

export const share = words('board-share', {
  title: 'Public links to {title}',
  note: 'Anyone with a link sees this dashboard as it is now, without an account: its charts and their names, but no queries and nothing else. Later changes are not shown.',
  expires: 'Ends after',
  hour: 'one hour',
  day: 'one day',
  week: 'one week',
  month: '30 days',
  quarter: '90 days',
  whom: 'For whom',
  make: 'Make link',
  made: 'Copy the link now: it is not shown again.',
  links: 'Links',
  none: 'No links',
  anybody: 'anybody',
  by: 'by {author}',
  ends: 'ends',
  opened: 'last opened',
  never: 'never opened',
  revoke: 'Revoke link {id}',
  revoked: 'Link revoked',
});
