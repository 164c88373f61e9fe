import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/alerts/incidents/{id}/investigation             any
    POST  /api/v1/alerts/incidents/{id}/investigation             any
    GET   /api/v1/investigations                                  any
    GET   /api/v1/investigations/calibration                      any
    GET   /api/v1/investigations/{id}                             any
    GET   /api/v1/investigations/{id}/markdown                    any
    GET   /api/v1/investigations/{id}/evidence/{evidence}/again   any
    GET   /api/v1/investigations/{id}/replay                      any
    POST  /api/v1/investigations/{id}/feedback                    any
  `,
  houseWide: ['investigations', 'evidence', 'incidents'],
  fields: { incident_id: 'incidents' },
};
