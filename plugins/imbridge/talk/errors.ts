import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('im', {
  no_incident: ['not_found', 'There is no incident {id}.'],
  no_approvals: ['unavailable', 'Approvals are not available at the moment.'],
  channel_endpoint: [
    'invalid_argument',
    '"endpoint" must identify an app and one of its conversations: im:<app id>/<conversation id>.',
  ],
  no_route: ['unavailable', 'The plugin that handles this is not enabled.'],
  forbidden: ['forbidden', 'The role {role} does not have permission to view this.'],
  may_not: ['forbidden', 'The role {role} does not have permission to do this.'],
});
