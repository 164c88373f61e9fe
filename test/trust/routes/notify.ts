import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/notification-channels              any
    POST    /api/v1/notification-channels              channel:create
    GET     /api/v1/notification-channels/{id}         any
    PUT     /api/v1/notification-channels/{id}         channel:update
    DELETE  /api/v1/notification-channels/{id}         channel:delete
    POST    /api/v1/notification-channels/{id}/test    channel:test
    POST    /api/v1/notification-channels/{id}/resend  channel:resend
    GET     /api/v1/notification-deliveries            any
    POST    /api/v1/notification-deliveries/{id}/resend  channel:resend
    GET     /api/v1/incident-pages/{token}             public
  `,
  houseWide: ['notification-channels', 'notification-deliveries', 'incident-pages'],
  fields: { notify_channel_ids: 'notification-channels', fallback_channel_id: 'notification-channels', channel_id: 'notification-channels' },
};
