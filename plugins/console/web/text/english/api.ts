import { words } from '../words.ts';

export const apiAnswer = words('api-answer', {
  title: 'Answer',
  stop: 'Stop',
  save: 'Save',
  headers: 'Headers',
  body: 'Body of the answer',
  empty: 'Nothing is said in it.',
  cut: 'The rest is left out.',
  binary: 'Not a text.',
  silent: 'svc does not answer.',
});

export const apiOperation = words('api-operation', {
  all: 'All operations',
  access: 'Access: {access} · plugin {plugin}',
  address: 'Address',
  body: 'Body',
  asForm: 'Form',
  asJson: 'JSON',
  how: 'How the body is written',
  list: 'several, with commas between them',
  file: 'A file',
  send: 'Send as {name}',
  changes: 'This is no rehearsal: what it changes is changed.',
  curl: 'The same for a terminal',
  curlNote: 'with a token of yours in $TOKEN',
});

export const api = words('api', {
  title: 'API',
  note: 'Every operation that svc serves, to be tried with your own session.',
  document: 'As a document',
  search: 'Search by path, word or plugin',
  method: 'Method',
  path: 'Path',
  what: 'What it does',
  access: 'Access',
  none: 'No operation is like this.',
  gone: 'svc serves no such operation now.',
  all: 'All operations',
});

export const apiRequest = words('api-request', { missing: '{name} is missing.' });
