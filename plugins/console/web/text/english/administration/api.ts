import { words } from '../../words.ts';

export const apiAnswer = words('api-answer', {
  title: 'Response',
  stop: 'Cancel request',
  save: 'Save response',
  headers: 'Headers',
  body: 'Response body',
  empty: 'Empty response',
  cut: 'The rest is not shown. Save the response to read all of it.',
  binary: 'Binary data. Save the response to inspect it.',
  silent: 'svc is not responding. Check whether the request took effect before you send it again.',
});

export const apiOperation = words('api-operation', {
  all: 'All operations',
  access: 'Access: {access} · plugin {plugin}',
  body: 'Body',
  asForm: 'Form',
  asJson: 'JSON',
  how: 'Body format',
  list: 'separated by commas',
  file: 'File',
  send: 'Send request as {name}',
  changes: 'Runs against live data.',
  curl: 'curl command',
  curlNote: 'with an API token in $TOKEN',
});

export const api = words('api', {
  title: 'API',
  note: 'Try any svc operation with your own session.',
  document: 'OpenAPI document',
  search: 'Search by path, word or plugin',
  path: 'Path',
  what: 'Summary',
  access: 'Access',
  none: 'No matching operations',
  gone: 'Operation not found. Its plugin may be disabled.',
  all: 'All operations',
});

export const apiRequest = words('api-request', { missing: 'Enter a value for {name}.' });
