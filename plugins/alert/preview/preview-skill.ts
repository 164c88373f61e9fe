import type { AskingOf } from 'svc/query';
import { covers, type ToolSkill, toolSkill } from 'svc/sdk';

import { PreviewDraft } from '../authoring/rule-schema.ts';
import { errors } from './errors.ts';
import type { Preview } from './preview.ts';

/** The skill that tries a draft of a rule. */
export const previewSkill = (preview: Preview, askingOf: AskingOf): ToolSkill =>
  toolSkill({
    scope: 'manager',
    class: 'safe',
    tier: 'specialty',
    devices: 'narrowed',
    reads: ['alert', 'metricsdb', 'logs'],
    key: 'rule_preview',
    name: 'Draft and preview a rule',
    description:
      'Checks a draft alert rule, runs it against past data, and reports when it would have fired. Nothing is stored: a person has to create the rule.',
    params: PreviewDraft,
    run: async (draft, { principal, signal }) => {
      if (!principal.grants.some((grant) => covers(grant, 'alert:preview'))) {
        throw errors.may_not_preview();
      }
      const { series: _series, ...result } = await preview.run(draft, {
        ...(await askingOf(principal)),
        signal,
        requireRead: () => undefined,
      });
      return { draft, ...result };
    },
  });
