import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('topology', {
  props_misfit: ['invalid_argument', 'The props do not match the node type {name}: {list}'],
  props: ['invalid_argument', 'props {message}'],
  schema: ['invalid_argument', 'schema{at} {message}'],
});
