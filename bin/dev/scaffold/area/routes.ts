import { type Clock, route, type RouteDeclaration, timestamp } from 'svc/sdk';

import { Greeting } from './schema.ts';

export const greetingRoutes = (clock: Clock): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: '/api/v1/plugin-id',
    access: 'any',
    summary: 'Greet whoever asks',
    response: Greeting,
    handle: ({ principal }) => ({ message: `Hello ${principal.kind}`, at: timestamp(clock.now()) }),
  }),
];
