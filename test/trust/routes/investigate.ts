import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET   /api/v1/alerts/incidents/{id}/investigation             any  refused
    POST  /api/v1/alerts/incidents/{id}/investigation             any  refused
    GET   /api/v1/investigations                                  any  refused
    GET   /api/v1/investigations/calibration                      any  refused
    GET   /api/v1/investigations/{id}                             any  refused
    GET   /api/v1/investigations/{id}/markdown                    any  refused
    GET   /api/v1/investigations/{id}/evidence/{evidence}/again   any  refused
    GET   /api/v1/investigations/{id}/replay                      any  refused
    POST  /api/v1/investigations/{id}/feedback                    any  refused
  `,
  houseWide: ['investigations', 'evidence', 'incidents'],
  fields: { incident_id: 'incidents' },
};
