import { withPin } from '../registry/index.ts';
import type { PluginDefinition } from '../sdk/index.ts';
import type { Activated } from './activate.ts';
import { within } from './deadline.ts';

/** The plugin's own veto, while the old generation still serves. */
export async function selfTest(definition: PluginDefinition<unknown>, { draft, ctx, made }: Activated): Promise<void> {
  const { generation } = draft;
  if (definition.selfTest) {
    await withPin({ snapshot: undefined, owner: generation }, () =>
      within(generation.manifest.limits.activate_ms, `selfTest() of ${generation.pluginId}`, () => definition.selfTest?.(ctx, made)),
    );
  }
}
