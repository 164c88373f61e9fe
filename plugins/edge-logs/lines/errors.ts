import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge-logs', {
  multiline_start: ['invalid_argument', 'multiline_start "{text}" is no RE2 expression: {cause}'],
});
