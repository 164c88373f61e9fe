import { setTimeout as pause } from 'node:timers/promises';

import type { Area, Twin } from '../area.ts';

const sessions = '/api/v1/chat/sessions';

async function session({ ask }: Twin): Promise<string> {
  return ((await ask('POST', sessions, {})).body as { id: string }).id;
}

/** Starts a run. */
async function run(owner: Twin): Promise<string> {
  const id = await session(owner);
  await owner.ask('POST', `${sessions}/${id}/messages/stream`, { content: 'Hello?' });
  const { items } = (await owner.ask('GET', `${sessions}/${id}/runs`)).body as {
    items: { run_id: string }[];
  };
  return items[0]!.run_id;
}

/** Asks, and waits for the answer, which comes a moment after its stream has ended. */
async function answered(owner: Twin): Promise<{ readonly session: string; readonly id: number }> {
  const id = await session(owner);
  await owner.ask('POST', `${sessions}/${id}/messages/stream`, {
    content: 'Hello?',
    agent: 'scout',
  });
  for (let tries = 0; tries < 500; tries++) {
    const { items } = (await owner.ask('GET', `${sessions}/${id}/messages`)).body as {
      items: { id: number; role: string }[];
    };
    const answer = items.find(({ role }) => role === 'assistant');
    if (answer !== undefined) {
      return { session: id, id: answer.id };
    }
    await pause(20);
  }
  throw new Error('no answer came');
}

async function share(owner: Twin): Promise<string> {
  const { session: id } = await answered(owner);
  const made = await owner.ask('POST', `${sessions}/${id}/share`, {});
  return (made.body as { share_id: string }).share_id;
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
    POST    /api/v1/chat/sessions/{id}/save                  any  narrowed
    POST    /api/v1/chat/sessions/{id}/share                 any  narrowed
    GET     /api/v1/chat/shared/{share_id}                   any  narrowed
    DELETE  /api/v1/chat/shared/{share_id}                   any  narrowed
  `,
  owned: {
    sessions: session,
    runs: run,
    shares: share,
    messages: async (owner) => (await answered(owner)).id,
  },
  fields: { related_incident_id: 'incidents' },
  bodies: {
    'PATCH /api/v1/chat/sessions/{id}': () => ({ title: 'Mine' }),
    'POST /api/v1/chat/sessions/{id}/messages': () => ({ content: 'Hello?' }),
    'POST /api/v1/chat/sessions/{id}/messages/stream': () => ({ content: 'Hello?' }),
    'POST /api/v1/chat/sessions/{id}/save': () => ({ as: 'document', path: 'notes/a.md' }),
    'POST /api/v1/chat/sessions/{id}/share': () => ({}),
  },
};
