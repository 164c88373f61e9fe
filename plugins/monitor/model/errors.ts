import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('monitor', {
  not_grafana: [
    'invalid_argument',
    'this is not a Grafana dashboard: it has neither panels nor rows',
  ],
  no_variable: ['invalid_argument', 'this dashboard has no variable {name}; it has {detail}'],
  variable_value: ['invalid_argument', 'the variable {name} {message}'],
  query_unreadable: ['invalid_argument', 'query: {message}'],
  no_store: ['unavailable', 'no store of {signal} is running; enable the plugin {names}'],
  nothing_to_import: [
    'invalid_argument',
    'no panel of this dashboard can be imported; details say why',
  ],
  dashboard_exists: ['conflict', 'there is a dashboard {uid} already; choose another uid{detail}'],
  dashboard_broken: ['conflict', 'the dashboard {uid} of the plugin {source} is broken: {problem}'],
  no_dashboard: [
    'not_found',
    'there is no dashboard {uid}; GET /api/v1/observability/dashboards lists them',
  ],
  panel_changed: [
    'conflict',
    'panel {id} was changed at the same time by another call; load it again and repeat your change',
  ],
  dashboard_of_plugin: [
    'conflict',
    'the dashboard {uid} belongs to the plugin {owner}; choose another uid',
  ],
  dashboard_has_panels: [
    'conflict',
    'there is a dashboard {uid} with {count} panels already; choose another uid, or overwrite it',
  ],
  panels_alone: [
    'conflict',
    'the dashboard {uid} belongs to the plugin {owner}: its title and variables stay, and users add panels alone',
  ],
  no_users_panels: ['not_found', 'users have no panels on a dashboard {uid}'],
  too_many_on_dashboard: [
    'conflict',
    'the dashboard {uid} would have more than {max} panels of its own; put some on another',
  ],
  too_many_panels: [
    'conflict',
    'there would be more than {max} panels; delete some that are not needed',
  ],
  no_panel: ['not_found', 'there is no panel {id}'],
  label_values_form: [
    'invalid_argument',
    '{query} is not label_values(label) or label_values(selector, label)',
  ],
  variable_form: ['invalid_argument', 'the variable {name} {what}'],
  panel_form: ['invalid_argument', '{problem}'],
  variable_query: [
    'invalid_argument',
    'the variable {name} has no values, since its query fails: {problem}',
  ],
  variable_unasked: ['unavailable', 'the variable {name} has no values: {problem}'],
});
