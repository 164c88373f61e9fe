import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('monitor', {
  may_not_draw: ['forbidden', 'Adding panels requires the permission monitor:write.'],
  not_grafana: [
    'invalid_argument',
    'This is not a Grafana dashboard: it has neither panels nor rows.',
  ],
  no_variable: ['invalid_argument', 'This dashboard has no variable {name}; it has {detail}'],
  variable_value: ['invalid_argument', 'The variable {name} {message}'],
  query_unreadable: ['invalid_argument', 'query: {message}'],
  no_store: [
    'unavailable',
    'No {signal} store is running; enable a plugin that provides one: {names}.',
  ],
  nothing_to_import: [
    'invalid_argument',
    'No panel of this dashboard can be imported; see the details for the reasons.',
  ],
  dashboard_exists: [
    'conflict',
    'A dashboard with the uid {uid} already exists; choose another uid{detail}.',
  ],
  dashboard_broken: ['conflict', 'The dashboard {uid} of the plugin {source} is broken: {problem}'],
  no_dashboard: [
    'not_found',
    'There is no dashboard {uid}; GET /api/v1/observability/dashboards lists all dashboards.',
  ],
  panel_changed: [
    'conflict',
    'Another request changed panel {id} at the same time; load it again and repeat your change.',
  ],
  dashboard_changed: [
    'conflict',
    'Dashboard {uid} is now at version {version}, made by {author}; load it again and repeat your change.',
  ],
  no_version: [
    'not_found',
    'There is no version {version} of dashboard {uid}; GET /api/v1/monitor/dashboards/{uid}/versions lists those that are kept.',
  ],
  version_deleted: [
    'conflict',
    'Version {version} of dashboard {uid} is its deletion; restore an earlier version.',
  ],
  dashboard_of_plugin: [
    'conflict',
    'The dashboard {uid} belongs to the plugin {owner}; choose another uid.',
  ],
  dashboard_has_panels: [
    'conflict',
    'A dashboard with the uid {uid} and {count} panels already exists; choose another uid, or overwrite it.',
  ],
  panels_alone: [
    'conflict',
    'The dashboard {uid} belongs to the plugin {owner}: its title and variables cannot be changed, but panels can be added.',
  ],
  no_users_panels: ['not_found', 'No user has added panels to dashboard {uid}.'],
  too_many_on_dashboard: [
    'conflict',
    'Dashboard {uid} can have at most {max} user-added panels; add some of them to another dashboard.',
  ],
  too_many_panels: [
    'conflict',
    'All dashboards together can have at most {max} user-added panels; delete some that are no longer needed.',
  ],
  links_off: ['conflict', 'Public links are turned off: monitor.public_links is false.'],
  too_many_links: [
    'conflict',
    'There can be at most {max} public links; revoke some that are no longer needed.',
  ],
  no_link: ['not_found', 'There is no public link {id}.'],
  link_ended: ['not_found', 'This link does not exist or has ended; ask for a new one.'],
  no_panel: ['not_found', 'There is no panel {id}.'],
  label_values_form: [
    'invalid_argument',
    '{query} is not label_values(label) or label_values(selector, label).',
  ],
  variable_form: ['invalid_argument', 'The variable {name} {what}'],
  panel_form: ['invalid_argument', '{problem}'],
  variable_query: [
    'invalid_argument',
    'The variable {name} has no values, because its query fails: {problem}',
  ],
  variable_unasked: ['unavailable', 'The variable {name} has no values: {problem}'],
});
