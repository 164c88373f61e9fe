import { type ToolSkill, toolSkill } from 'svc/sdk';

import { SilenceDraft } from './schema.ts';
import type { Silences } from './silences.ts';

/** The skill that creates a silence. */
export const silenceSkill = (silences: Silences): ToolSkill =>
  toolSkill({
    scope: 'manager',
    class: 'mutating',
    tier: 'specialty',
    key: 'silence_create',
    name: 'Silence incidents',
    description:
      'Mutes notifications for incidents whose labels match, until a given time or for a given duration.',
    params: SilenceDraft,
    run: (draft, { principal }) => silences.add(draft, { principal, note: () => undefined }),
  });
