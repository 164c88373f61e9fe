import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/alert-rules                      any  refused
    POST    /api/v1/alert-rules                      alert:write  refused
    GET     /api/v1/alert-rules/{id}                 any  refused
    PUT     /api/v1/alert-rules/{id}                 alert:write  refused
    DELETE  /api/v1/alert-rules/{id}                 alert:write  refused
    POST    /api/v1/alert-rules/{id}/enabled         alert:write  refused
    POST    /api/v1/alert-rules/preview              alert:preview  refused
    POST    /api/v1/alert-rules/import               alert:write  refused
    POST    /api/v1/alert-rules/test                 alert:preview  refused
    GET     /api/v1/alerts/incidents                 any  refused
    GET     /api/v1/alerts/incidents/{id}            any  refused
    GET     /api/v1/alerts/incidents/{id}/events     any  refused
    GET     /api/v1/alerts/incidents/{id}/instances  any  refused
    GET     /api/v1/alerts/incidents/{id}/why        any  refused
    POST    /api/v1/alerts/incidents/{id}/ack        any  refused
    POST    /api/v1/alerts/incidents/{id}/resolve    any  refused
    POST    /api/v1/alerts/incidents/{id}/silence    any  refused
    DELETE  /api/v1/alerts/incidents/{id}/silence    any  refused
    POST    /api/v1/alerts/incidents/{id}/notes      any  refused
    GET     /api/v1/alerts/silences                  any  refused
    POST    /api/v1/alerts/silences                  alert:silence  refused
    GET     /api/v1/alerts/silences/{id}             any  refused
    PUT     /api/v1/alerts/silences/{id}             alert:silence  refused
    DELETE  /api/v1/alerts/silences/{id}             alert:silence  refused
    GET     /api/v1/alerts/silences/{id}/muted       any  refused
    POST    /api/v1/alerts/silences/preview          any  refused
    GET     /api/v1/recording-rules                  any  refused
    DELETE  /api/v1/recording-rules/{id}             alert:write  refused
    GET     /api/v1/alerts/runtime-info              any  refused
  `,
  houseWide: ['alert-rules', 'incidents', 'recording-rules', 'silences'],
  fields: { notify_channel_ids: 'notification-channels' },
};
