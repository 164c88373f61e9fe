import { defineErrors } from '../../core/sdk/index.ts';

export const errors = defineErrors('manifest', {
  manifest_shape: ['invalid_argument', '{where}: {list}'],
  command_shape: ['invalid_argument', '{where}: the command "{words}" {problem}'],
});
