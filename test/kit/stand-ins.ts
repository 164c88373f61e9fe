import { syntheticDraft } from '../../core/boot/core-plugin.ts';
import type { Draft } from '../../core/registry/index.ts';

/** Services that a test gives in place of the plugins it leaves out. */
export function standIns(services: Readonly<Record<string, object>>): Draft {
  const draft = syntheticDraft('stand-ins', 'Stand-ins', 1);
  Object.entries(services).forEach(([id, instance]) =>
    draft.add('services', id, { version: '1.0.0', instance }),
  );
  return draft.seal();
}
