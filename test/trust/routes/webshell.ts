import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/devices/{device_id}/shell                 webshell
    POST    /api/v1/webshell/tickets                          webshell
    GET     /api/v1/webshell/sessions                         any
    DELETE  /api/v1/webshell/sessions/{id}                    webshell
    GET     /api/v1/webshell/recordings                       webshell:review
    GET     /api/v1/webshell/recordings/{id}                  webshell:review
    DELETE  /api/v1/webshell/recordings/{id}                  admin
    GET     /api/v1/webshell/host-keys                        webshell
    POST    /api/v1/webshell/host-keys/{device_id}/accept     admin
    DELETE  /api/v1/webshell/host-keys/{device_id}            admin
  `,
  // A shell that can be shown again: nobody has one here, where no device is online.
  fields: { session_id: 'shells' },
  houseWide: ['recordings', 'shells'],
};
