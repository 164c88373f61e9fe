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
      'Mutes the notifications of incidents whose labels match, until a time or for a duration.',
    params: SilenceDraft,
    run: (draft, { principal }) => silences.add(draft, { principal, note: () => undefined }),
  });
