import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  no_incident: ['not_found', 'there is no incident {id}'],
  no_approvals: ['unavailable', 'approvals are not available now'],
  channel_endpoint: [
    'invalid_argument',
    'endpoint names an app and a conversation of it: im:<id of the app>/<id of the conversation>',
  ],
  no_route: ['unavailable', 'what would do this is not enabled'],
  forbidden: ['forbidden', 'the role {role} may not see this'],
  may_not: ['forbidden', 'the role {role} may not do this'],
});
