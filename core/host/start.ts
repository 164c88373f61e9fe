import { withPin } from '../registry/index.ts';
import type { PluginDefinition } from '../sdk/index.ts';
import type { Activated } from './activate.ts';
import { within } from './deadline.ts';

/**
 * Lets the committed generation begin: its timers and threads run, then its own start(). One that replaces another must
 * have its threads open, or the other comes back; at boot nobody waits for them.
 */
export async function start(definition: PluginDefinition<unknown>, { draft, ctx, threads, made }: Activated, replaces: boolean): Promise<void> {
  const { generation } = draft;
  const { activate_ms: ms } = generation.manifest.limits;
  generation.scope.arm();
  if (replaces) {
    await threads.opened(ms);
  }
  if (definition.start) {
    await withPin({ snapshot: undefined, owner: generation }, () => within(ms, `start() of ${generation.pluginId}`, () => definition.start?.(ctx, made)));
  }
}
