import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('alert', {
  same_labels: [
    'invalid_argument',
    'vector contains metrics with the same labelset after applying alert labels',
  ],
  test_limit: ['invalid_argument', 'exceeded limit of {max} with {count} alerts'],
  test_refused: ['invalid_argument', '{what} {name}: {cause}'],
  no_tests: ['invalid_argument', 'The test file has no tests.'],
  no_query_engine: [
    'unavailable',
    'No metrics store with a query engine is running; enable the metricsdb plugin to run rule tests.',
  ],
  test_too_long: [
    'invalid_argument',
    'The test needs {evaluations} rule evaluations, but the limit is {max}.',
  ],
  unknown_group: [
    'invalid_argument',
    'group_eval_order lists the group {group}, which is not in any of the rule files.',
  ],
  rule_file: ['invalid_argument', '{name}: {cause}'],
});
