import { SettingChanged } from 'svc/contracts/setting';
import { definePlugin, route } from 'svc/sdk';
import { Type } from 'typebox';

/** Plugin that reports its settings at the start, the changes since, and the current values. */
export default definePlugin({
  activate(ctx) {
    const keys = ['torch.brightness', 'torch.api_key', 'torch.built_in', 'torch.colors'];
    const read = (): Record<string, unknown> =>
      Object.fromEntries(keys.map((key) => [key, ctx.settings.get(key) ?? null]));
    const found = read();
    const watched: [key: string, value: unknown][] = [];
    const events: unknown[] = [];
    keys.forEach((key) => ctx.settings.watch(key, (value) => void watched.push([key, value])));
    ctx.events.on(SettingChanged, (event) => void events.push(event));
    ctx.http.routes([
      route({
        method: 'GET',
        path: '/api/v1/torch',
        access: 'any',
        summary: 'What the torch has seen of its settings',
        response: Type.Unknown(),
        handle: () => ({ found, watched, events, now: read() }),
      }),
    ]);
  },
});
