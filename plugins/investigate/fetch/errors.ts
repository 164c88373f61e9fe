import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  time_up: ['unavailable', 'Not queried: the time of the investigation was up.'],
  source_away: ['unavailable', '{name} is not available; enable its plugin.'],
  source_late: ['unavailable', '{name} did not answer within {seconds} s.'],
  answer_too_large: ['unavailable', 'The answer is larger than the limit for one answer.'],
  topology_away: ['unavailable', 'The topology is not available; enable the plugin topology.'],
  changes_away: ['unavailable', 'The feed of changes is not available; enable the plugin changes.'],
  logs_away: ['unavailable', 'The log store is not available; enable the plugin logs.'],
  metrics_away: ['unavailable', 'The metrics store is not available; enable the plugin metricsdb.'],
  traces_away: ['unavailable', 'The trace store is not available; enable the plugin traces.'],
});
