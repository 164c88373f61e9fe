import { definePlugin, Keys, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { Rotation } from './rotation.ts';

const Rotated = Type.Object({
  kid: Type.String({ description: 'Key in use from now on' }),
  resealed: Type.Integer({ description: 'Number of secrets re-encrypted with that key' }),
  unreadable: Type.Integer({
    description: 'Number of secrets that no key can decrypt; they are left unchanged',
  }),
  unused: Type.Array(Type.String(), {
    description: 'Older keys that are no longer used by any secret',
  }),
});

export default definePlugin({
  errors,
  activate(ctx) {
    const rotation = new Rotation(ctx.services.use(Keys), ctx.log);
    ctx.scope.defer('stop the rotation', () => rotation.stop());
    ctx.scope.task('resume an interrupted rotation', () => rotation.resume());
    ctx.http.routes(keyRoutes(rotation));
  },
});

const keyRoutes = (rotation: Rotation): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/keys/rotate',
    access: 'admin',
    summary: 'Create a new master key and re-encrypt every secret',
    description:
      'Both keys stay usable until the rotation is complete. An interrupted rotation continues at the next startup.',
    response: Rotated,
    status: 200,
    timeoutMs: 150_000,
    action: 'key:rotate',
    errors: ['conflict'],
    handle: () => rotation.rotate(),
  }),
];
