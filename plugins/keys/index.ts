import { definePlugin, Keys, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import { Rotation } from './rotation.ts';

const Rotated = Type.Object({
  kid: Type.String({ description: 'the key that seals from now on' }),
  resealed: Type.Integer({ description: 'secrets that were sealed again with it' }),
  unreadable: Type.Integer({ description: 'secrets that no key opens; they stay as they are' }),
  unused: Type.Array(Type.String(), { description: 'older keys that no secret needs any more' }),
});

export default definePlugin({
  errors,
  activate(ctx) {
    const rotation = new Rotation(ctx.services.use(Keys), ctx.log);
    ctx.scope.defer('stop the rotation', () => rotation.stop());
    ctx.scope.task('go on with a rotation that was interrupted', () => rotation.resume());
    ctx.http.routes(keyRoutes(rotation));
  },
});

const keyRoutes = (rotation: Rotation): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/keys/rotate',
    access: 'admin',
    summary: 'Make a new master key and seal every secret again with it',
    description:
      'Both keys are readable until the end. A rotation that was interrupted goes on at the next start.',
    response: Rotated,
    status: 200,
    timeoutMs: 150_000,
    action: 'key:rotate',
    errors: ['conflict'],
    handle: () => rotation.rotate(),
  }),
];
