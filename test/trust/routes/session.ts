import type { Area } from '../area.ts';

const inAWeek = (): string => new Date(Date.now() + 7 * 86_400_000).toISOString();

export const area: Area = {
  routes: `
    POST    /api/v1/auth/login       public
    POST    /api/v1/auth/refresh     public
    POST    /api/v1/auth/register    public
    POST    /api/v1/auth/setup       public
    POST    /api/v1/auth/logout      known
    POST    /api/v1/auth/logout-all  known
    GET     /api/v1/sessions         any
    DELETE  /api/v1/sessions/{id}    any
    GET     /api/v1/tokens           any
    POST    /api/v1/tokens           any
    DELETE  /api/v1/tokens/{id}      any
  `,
  owned: {
    sessions: async ({ ask }) => (await ask('GET', '/api/v1/sessions')).body.items[0].id,
    tokens: async ({ ask }) => (await ask('POST', '/api/v1/tokens', { name: 'script', actions: [], expires_at: inAWeek() })).body.id,
  },
  bodies: { 'POST /api/v1/tokens': () => ({ name: 'script', actions: [], expires_at: inAWeek() }) },
};
