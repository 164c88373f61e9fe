import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/devices/{device_id}/shell                 webshell  narrowed
    POST    /api/v1/webshell/tickets                          webshell  narrowed
    GET     /api/v1/webshell/sessions                         any  narrowed
    DELETE  /api/v1/webshell/sessions/{id}                    webshell  narrowed
    GET     /api/v1/webshell/recordings                       webshell:review  narrowed
    GET     /api/v1/webshell/recordings/{id}                  webshell:review  narrowed
    DELETE  /api/v1/webshell/recordings/{id}                  admin
    GET     /api/v1/webshell/host-keys                        webshell  narrowed
    POST    /api/v1/webshell/host-keys/{device_id}/accept     admin
    DELETE  /api/v1/webshell/host-keys/{device_id}            admin
  `,
  // A shell that can be shown again: nobody has one here, where no device is online.
  fields: { session_id: 'shells' },
  houseWide: ['recordings', 'shells'],
};
