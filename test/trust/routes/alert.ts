import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/alert-rules                      any
    POST    /api/v1/alert-rules                      alert:write
    GET     /api/v1/alert-rules/{id}                 any
    PUT     /api/v1/alert-rules/{id}                 alert:write
    DELETE  /api/v1/alert-rules/{id}                 alert:write
    POST    /api/v1/alert-rules/{id}/enabled         alert:write
    POST    /api/v1/alert-rules/preview              alert:preview
    POST    /api/v1/alert-rules/import               alert:write
    POST    /api/v1/alert-rules/test                 alert:preview
    GET     /api/v1/alerts/incidents                 any
    GET     /api/v1/alerts/incidents/{id}            any
    GET     /api/v1/alerts/incidents/{id}/events     any
    GET     /api/v1/alerts/incidents/{id}/instances  any
    GET     /api/v1/alerts/incidents/{id}/why        any
    POST    /api/v1/alerts/incidents/{id}/ack        any
    POST    /api/v1/alerts/incidents/{id}/resolve    any
    POST    /api/v1/alerts/incidents/{id}/silence    any
    DELETE  /api/v1/alerts/incidents/{id}/silence    any
    POST    /api/v1/alerts/incidents/{id}/notes      any
    GET     /api/v1/alerts/silences                  any
    POST    /api/v1/alerts/silences                  alert:silence
    GET     /api/v1/alerts/silences/{id}             any
    PUT     /api/v1/alerts/silences/{id}             alert:silence
    DELETE  /api/v1/alerts/silences/{id}             alert:silence
    GET     /api/v1/alerts/silences/{id}/muted       any
    POST    /api/v1/alerts/silences/preview          any
    GET     /api/v1/recording-rules                  any
    DELETE  /api/v1/recording-rules/{id}             alert:write
    GET     /api/v1/alerts/runtime-info              any
  `,
  houseWide: ['alert-rules', 'incidents', 'recording-rules', 'silences'],
  fields: { notify_channel_ids: 'notification-channels' },
};
