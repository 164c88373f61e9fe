import type { Area, Twin } from '../area.ts';

const sessions = '/api/v1/chat/sessions';

async function session({ ask }: Twin): Promise<string> {
  return ((await ask('POST', sessions, {})).body as { id: string }).id;
}

/** Starts a run, which ends immediately without a model, and is a run all the same. */
async function run(owner: Twin): Promise<string> {
  const id = await session(owner);
  await owner.ask('POST', `${sessions}/${id}/messages/stream`, { content: 'Hello?' });
  const { items } = (await owner.ask('GET', `${sessions}/${id}/runs`)).body as {
    items: { run_id: string }[];
  };
  return items[0]!.run_id;
}

export const area: Area = {
  routes: `
    GET     /api/v1/chat/sessions                            any  narrowed
    POST    /api/v1/chat/sessions                            any  narrowed
    PATCH   /api/v1/chat/sessions/{id}                       any  narrowed
    DELETE  /api/v1/chat/sessions/{id}                       any  narrowed
    GET     /api/v1/chat/sessions/{id}/messages              any  narrowed
    POST    /api/v1/chat/sessions/{id}/messages              any  narrowed
    POST    /api/v1/chat/sessions/{id}/messages/stream       any  narrowed
    GET     /api/v1/chat/sessions/{id}/messages/stream       any  narrowed
    GET     /api/v1/chat/sessions/{id}/runs                  any  narrowed
    GET     /api/v1/chat/sessions/{id}/runs/{run_id}         any  narrowed
    POST    /api/v1/chat/sessions/{id}/runs/{run_id}/cancel  any  narrowed
  `,
  owned: { sessions: session, runs: run },
  fields: { related_incident_id: 'incidents' },
  bodies: {
    'PATCH /api/v1/chat/sessions/{id}': () => ({ title: 'Mine' }),
    'POST /api/v1/chat/sessions/{id}/messages': () => ({ content: 'Hello?' }),
    'POST /api/v1/chat/sessions/{id}/messages/stream': () => ({ content: 'Hello?' }),
  },
};
