import type { Area } from '../area.ts';

const inAWeek = (): string => new Date(Date.now() + 7 * 86_400_000).toISOString();

export const area: Area = {
  routes: `
    POST    /api/v1/auth/login       public
    POST    /api/v1/auth/refresh     public
    POST    /api/v1/auth/register    public
    POST    /api/v1/auth/setup       public
    POST    /api/v1/auth/logout      known  none
    POST    /api/v1/auth/logout-all  known  none
    GET     /api/v1/sessions         any  none
    DELETE  /api/v1/sessions/{id}    any  none
    GET     /api/v1/tokens           any  none
    POST    /api/v1/tokens           any  none
    DELETE  /api/v1/tokens/{id}      any  none
  `,
  owned: {
    sessions: async ({ ask }) => (await ask('GET', '/api/v1/sessions')).body.items[0].id,
    tokens: async ({ ask }) =>
      (await ask('POST', '/api/v1/tokens', { name: 'script', actions: [], expires_at: inAWeek() }))
        .body.id,
  },
  bodies: { 'POST /api/v1/tokens': () => ({ name: 'script', actions: [], expires_at: inAWeek() }) },
};
