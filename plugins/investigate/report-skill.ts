import type { SeenBy } from 'svc/query';
import { type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import { askerOf, type InvestigationQueue } from './investigation-queue.ts';
import type { Reports } from './reports.ts';

/** The skill that tells the likely cause of an incident, and looks into it where nothing has yet. */
export const reportSkill = (reports: Reports, queue: InvestigationQueue, sees: SeenBy): ToolSkill =>
  toolSkill({
    key: 'investigate',
    name: 'Investigate an incident',
    description:
      'The likely cause of an incident and its evidence, what was ruled out and what could not be observed; starts an investigation if there is none.',
    scope: 'manager',
    class: 'safe',
    tier: 'core',
    params: Type.Object({
      incident_id: Type.Integer({ minimum: 1 }),
      again: Type.Boolean({
        default: false,
        description: 'Investigate again even if a report exists.',
      }),
    }),
    async run({ incident_id: id, again }, { principal }) {
      const seen = await sees(principal);
      const known = await reports.ofIncident(id, seen);
      if (
        again ||
        known.status === 'not_started' ||
        known.status === 'skipped' ||
        known.status === 'failed'
      ) {
        const { id: run } = await queue.start(id, askerOf(principal), seen);
        return { started: run, note: 'It takes up to 20 s; call this again for its report.' };
      }
      const { evidence: _evidence, markdown: _markdown, ...report } = { ...known, markdown: '' };
      return report;
    },
  });
