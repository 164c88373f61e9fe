import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  time_up: ['unavailable', 'Not queried: the investigation ran out of time.'],
  source_away: ['unavailable', '{name} is not available; enable its plugin.'],
  source_late: ['unavailable', '{name} did not respond within {seconds} s.'],
  answer_too_large: ['unavailable', 'The response exceeds the size limit.'],
  topology_away: ['unavailable', 'The topology is not available; enable the topology plugin.'],
  changes_away: ['unavailable', 'The change feed is not available; enable the changes plugin.'],
  logs_away: ['unavailable', 'The log store is not available; enable the logs plugin.'],
  metrics_away: ['unavailable', 'The metrics store is not available; enable the metricsdb plugin.'],
  traces_away: ['unavailable', 'The trace store is not available; enable the traces plugin.'],
});
