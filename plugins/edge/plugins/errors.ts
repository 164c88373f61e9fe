import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('edge', {
  plugin_entry: [
    'invalid_argument',
    'it needs a name, a kind (metrics, logs, traces) and default_enabled',
  ],
  spec: ['invalid_argument', 'the spec does not fit the plugin {name}: {problem}'],
  no_plugin: ['not_found', 'edges have no plugin "{name}"; they have {detail}'],
  spec_too_large: ['invalid_argument', 'a spec has at most {largestSpec} bytes of JSON'],
});
