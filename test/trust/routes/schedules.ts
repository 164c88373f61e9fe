import type { Area } from '../area.ts';

const schedules = '/api/v1/schedules';

export const area: Area = {
  routes: `
    GET     /api/v1/schedules              any  narrowed
    POST    /api/v1/schedules              schedule:manage  narrowed
    GET     /api/v1/schedules/{id}         any  narrowed
    PATCH   /api/v1/schedules/{id}         schedule:manage  narrowed
    DELETE  /api/v1/schedules/{id}         schedule:manage  narrowed
    GET     /api/v1/schedules/{id}/runs    any  narrowed
    POST    /api/v1/schedules/{id}/run     schedule:manage  narrowed
    POST    /api/v1/schedules/{id}/pause   schedule:manage  narrowed
    POST    /api/v1/schedules/{id}/resume  schedule:manage  narrowed
  `,
  owned: {
    schedules: async ({ ask }) =>
      (
        (
          await ask('POST', schedules, {
            name: 'Mine',
            question: 'What is new?',
            cron: '0 7 * * *',
            deliver_to: 'document',
          })
        ).body as { id: number }
      ).id,
  },
  fields: { incident_id: 'incidents', channel_ids: 'notification-channels' },
  bodies: {
    'POST /api/v1/schedules': () => ({
      name: 'Another',
      question: 'What is new?',
      cron: '0 7 * * *',
      deliver_to: 'document',
    }),
    'PATCH /api/v1/schedules/{id}': () => ({ question: 'What else?' }),
    'POST /api/v1/schedules/{id}/run': () => ({}),
  },
};
