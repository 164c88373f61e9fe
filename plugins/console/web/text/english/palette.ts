import { words } from '../words.ts';

export const palette = words('palette', {
  title: 'Search and commands',
  hint: 'Page, device, incident or command',
  none: 'No results',
  theme: 'Switch theme',
  signOut: 'Sign out',
  keys: 'Show keyboard shortcuts',
  words: 'Export texts for translation',
  manual: 'Open manual',
  glossary: 'Open glossary',
  keysTitle: 'Keyboard shortcuts',
  palette: 'Search and commands',
  search: 'Search this page',
  thisList: 'Keyboard shortcuts',
  walk: 'Next and previous row',
  open: 'Open row',
  close: 'Close dialog',
  page: 'Page',
  device: 'Device',
  incident: 'Incident',
  command: 'Command',
});
