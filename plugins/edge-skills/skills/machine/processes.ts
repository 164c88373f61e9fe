import type { EdgeSkill } from 'svc/contracts/edge-skills';
import { type ListParams, type ProcessWatch } from 'svc/probe';

import { fitRows } from '../fit-rows.ts';

export const processes = (watch: ProcessWatch): EdgeSkill => ({
  key: 'processes',
  name: 'Processes',
  description:
    'The processes that use the most CPU or memory, with their arguments; secrets in the arguments are hidden.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      top: {
        type: 'integer',
        minimum: 1,
        maximum: 500,
        default: 30,
        description: 'Number of processes to return.',
      },
      sort_by: { enum: ['cpu', 'mem'], default: 'cpu' },
    },
  },
  async run({ top, sort_by: by }: ListParams, { signal }) {
    const { sampled_at: at, processes: rows } = await watch.list({ top, sort_by: by }, signal);
    const shown = fitRows(rows);
    const readOn =
      shown.length < rows.length
        ? {
            hint: 'Not all processes fit in the response: request fewer.',
            params: { top: shown.length },
          }
        : undefined;
    return { result: { sampled_at: at, processes: shown }, readOn };
  },
});
