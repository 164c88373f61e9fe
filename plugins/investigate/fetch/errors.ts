import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('investigate', {
  time_up: ['unavailable', 'it was not asked: the time of the investigation was up'],
  source_away: ['unavailable', '{name} is not there; enable its plugin'],
  source_late: ['unavailable', '{name} did not answer within {seconds} s'],
  answer_too_large: ['unavailable', 'the answer is larger than what is kept of one'],
  topology_away: ['unavailable', 'the topology is not available; enable the plugin topology'],
  changes_away: ['unavailable', 'the change feed is not available; enable the plugin changes'],
  logs_away: ['unavailable', 'the log store is not available; enable the plugin logs'],
  metrics_away: ['unavailable', 'the metrics store is not available; enable the plugin metricsdb'],
  traces_away: ['unavailable', 'the trace store is not available; enable the plugin traces'],
});
