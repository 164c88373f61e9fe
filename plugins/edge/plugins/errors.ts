import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  plugin_entry: [
    'invalid_argument',
    'An edge plugin needs a name, a kind (metrics, logs, traces) and default_enabled.',
  ],
  spec: ['invalid_argument', 'The spec of the plugin {name} is invalid: {problem}'],
  no_plugin: ['not_found', 'Edges have no plugin "{name}"; they have {detail}'],
  spec_too_large: ['invalid_argument', 'A spec may contain at most {largestSpec} bytes of JSON.'],
});
