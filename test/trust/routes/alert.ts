import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/alert-rules                      any  none
    POST    /api/v1/alert-rules                      alert:write  refused
    GET     /api/v1/alert-rules/{id}                 any  none
    PUT     /api/v1/alert-rules/{id}                 alert:write  refused
    DELETE  /api/v1/alert-rules/{id}                 alert:write  refused
    POST    /api/v1/alert-rules/{id}/enabled         alert:write  refused
    POST    /api/v1/alert-rules/preview              alert:preview  narrowed
    POST    /api/v1/alert-rules/import               alert:write  refused
    POST    /api/v1/alert-rules/test                 alert:preview  none
    GET     /api/v1/alerts/incidents                 any  narrowed
    GET     /api/v1/alerts/incidents/{id}            any  narrowed
    GET     /api/v1/alerts/incidents/{id}/events     any  narrowed
    GET     /api/v1/alerts/incidents/{id}/instances  any  narrowed
    GET     /api/v1/alerts/incidents/{id}/why        any  narrowed
    POST    /api/v1/alerts/incidents/{id}/ack        alert:ack|people  narrowed
    POST    /api/v1/alerts/incidents/{id}/resolve    alert:ack|people  narrowed
    POST    /api/v1/alerts/incidents/{id}/silence    alert:ack|people  narrowed
    DELETE  /api/v1/alerts/incidents/{id}/silence    alert:ack|people  narrowed
    POST    /api/v1/alerts/incidents/{id}/notes      alert:ack|people  narrowed
    GET     /api/v1/alerts/silences                  any  narrowed
    POST    /api/v1/alerts/silences                  alert:silence  narrowed
    GET     /api/v1/alerts/silences/labels           any  narrowed
    GET     /api/v1/alerts/silences/calendar         any  narrowed
    GET     /api/v1/alerts/silences/{id}             any  narrowed
    PUT     /api/v1/alerts/silences/{id}             alert:silence  narrowed
    DELETE  /api/v1/alerts/silences/{id}             alert:silence  narrowed
    GET     /api/v1/alerts/silences/{id}/muted       any  narrowed
    POST    /api/v1/alerts/silences/preview          any  narrowed
    GET     /api/v1/recording-rules                  any  refused
    DELETE  /api/v1/recording-rules/{id}             alert:write  refused
    GET     /api/v1/recording-rules/groups           any  refused
    PUT     /api/v1/recording-rules/groups           alert:write  refused
    GET     /api/v1/alerts/runtime-info              any  refused
  `,
  houseWide: ['alert-rules', 'incidents', 'recording-rules', 'silences'],
  fields: { notify_channel_ids: 'notification-channels' },
};
