import { appendFileSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { directory, persona } from '../plugins/chat/stand-ins.ts';
import { skillHouse, tools } from '../plugins/skill/house.ts';

const [folder, model] = process.argv.slice(2) as [string, string];
const effects = openSync(join(folder, 'effects'), 'a');

/**
 * Host with the shipped plugins of agents, until this process is killed; the effect of a tool is
 * one line on disk.
 */
const kit = await skillHouse(
  { after: () => undefined },
  {
    dataDir: join(folder, 'data'),
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', tools],
    services: {
      'persona.directory': directory(
        persona({ name: 'sre', permission_mode: 'dual-sign-required' }),
      ),
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: model,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    },
  },
);
kit.effect = (_tool, params) => {
  appendFileSync(effects, `${(params as { host: string }).host}\n`);
  fsyncSync(effects);
  return { done: true };
};
await kit.allowWrites();
writeSync(1, `${kit.house.url}\n`);
