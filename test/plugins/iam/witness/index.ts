import { PersonChanged, RoleChanged } from 'svc/contracts/iam';
import { definePlugin, route } from 'svc/sdk';
import { Type } from 'typebox';

/** Remembers what it hears of people and roles. */
export default definePlugin({
  activate(ctx) {
    const heard: unknown[] = [];
    ctx.events.on(PersonChanged, (event) => void heard.push(event));
    ctx.events.on(RoleChanged, (event) => void heard.push(event));
    ctx.http.routes([
      route({
        method: 'GET',
        path: '/api/v1/witness',
        access: 'any',
        summary: 'heard',
        response: Type.Unknown(),
        handle: () => heard,
      }),
    ]);
  },
});
