import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET     /api/v1/devices/{device_id}/shell                 webshell  refused
    POST    /api/v1/webshell/tickets                          webshell  refused
    GET     /api/v1/webshell/sessions                         any  refused
    DELETE  /api/v1/webshell/sessions/{id}                    webshell  refused
    GET     /api/v1/webshell/recordings                       webshell:review  refused
    GET     /api/v1/webshell/recordings/{id}                  webshell:review  refused
    DELETE  /api/v1/webshell/recordings/{id}                  admin
    GET     /api/v1/webshell/host-keys                        webshell  refused
    POST    /api/v1/webshell/host-keys/{device_id}/accept     admin
    DELETE  /api/v1/webshell/host-keys/{device_id}            admin
  `,
  // A shell that can be shown again: nobody has one here, where no device is online.
  fields: { session_id: 'shells' },
  houseWide: ['recordings', 'shells'],
};
