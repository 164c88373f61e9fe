import { defineErrors } from '../sdk/index.ts';

export const errors = defineErrors('observe', {
  metric_declared_twice: [
    'conflict',
    '{owner} and {other} both declare the metric {name}; rename one of them.',
  ],
  metric_name: [
    'invalid_argument',
    '"{name}" is not a valid metric name; use lower-case letters, digits and "_".',
  ],
  metric_label: ['internal', 'Metric {metric} has no label "{label}"; declared labels: {known}.'],
});
