import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/notification-channels              any  refused
    POST    /api/v1/notification-channels              channel:create  refused
    GET     /api/v1/notification-channels/{id}         any  refused
    PUT     /api/v1/notification-channels/{id}         channel:update  refused
    DELETE  /api/v1/notification-channels/{id}         channel:delete  refused
    POST    /api/v1/notification-channels/{id}/test    channel:test  refused
    POST    /api/v1/notification-channels/{id}/resend  channel:resend  refused
    GET     /api/v1/notification-deliveries            any  refused
    POST    /api/v1/notification-deliveries/{id}/resend  channel:resend  refused
    GET     /api/v1/incident-pages/{token}             public
    GET     /api/v1/incident-pages/{token}/chart.png   public
  `,
  houseWide: ['notification-channels', 'notification-deliveries', 'incident-pages'],
  fields: {
    notify_channel_ids: 'notification-channels',
    fallback_channel_id: 'notification-channels',
    channel_id: 'notification-channels',
  },
};
