import { SessionEnded, SessionReplayed } from 'svc/contracts/session';
import { definePlugin, route } from 'svc/sdk';
import { Type } from 'typebox';

/** Plugin that guards one route in each way, and reports what it got. */
export default definePlugin({
  activate(ctx) {
    const heard: { type: string; event: unknown }[] = [];
    ctx.events.on(SessionReplayed, (event) => void heard.push({ type: SessionReplayed.id, event }));
    ctx.events.on(SessionEnded, (event) => void heard.push({ type: SessionEnded.id, event }));
    const guarded = (
      name: string,
      access: 'public' | 'any' | 'admin' | 'lamp:switch' | 'lamp:break',
    ) =>
      route({
        method: 'GET',
        path: `/api/v1/lamp/${name}`,
        access,
        summary: name,
        response: Type.Unknown(),
        handle: ({ principal }) => ({ ...principal }),
      });
    ctx.http.routes([
      guarded('open', 'public'),
      guarded('look', 'any'),
      guarded('switch', 'lamp:switch'),
      guarded('break', 'lamp:break'),
      guarded('sell', 'admin'),
      route({
        method: 'GET',
        path: '/api/v1/lamp/heard',
        access: 'any',
        summary: 'heard',
        response: Type.Unknown(),
        handle: () => heard,
      }),
    ]);
  },
});
