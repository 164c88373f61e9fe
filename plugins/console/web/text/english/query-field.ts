import { words } from '../words.ts';

export const queryField = words('query-field', {
  run: 'Run query',
  suggestions: 'Suggestions',
  hint: 'Enter runs the query; Shift+Enter starts a new line',
});
