import { type MasterKeys, route, type RouteDeclaration } from 'svc/sdk';

import { Rotation } from './schema.ts';

export const keyRoutes = (keys: MasterKeys): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/keys/rotate',
    access: 'admin',
    summary: 'Make a new master key and seal every secret again with it',
    description: 'Both keys are readable until the end. A rotation that was interrupted goes on at the next start.',
    response: Rotation,
    status: 200,
    timeoutMs: 150_000,
    action: 'key:rotate',
    errors: ['conflict'],
    handle: async () => {
      const { unused, ...rotation } = await keys.rotate();
      return { ...rotation, unused: [...unused] };
    },
  }),
];
