import { withPin } from '../registry/index.ts';
import type { PluginDefinition } from '../sdk/index.ts';
import type { Activated } from './activate.ts';
import { within } from './deadline.ts';

/** Lets the committed generation begin: its timers run, then its own start(). */
export async function start(definition: PluginDefinition<unknown>, { draft, ctx, made }: Activated): Promise<void> {
  const { generation } = draft;
  generation.scope.arm();
  if (definition.start) {
    await withPin({ snapshot: undefined, owner: generation }, () =>
      within(generation.manifest.limits.activate_ms, `start() of ${generation.pluginId}`, () => definition.start?.(ctx, made)),
    );
  }
}
