import { appendFileSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import type { Words } from 'svc/contracts/notify';

import { directory, persona } from '../plugins/chat/stand-ins.ts';
import { skillHouse } from '../plugins/skill/house.ts';

const [folder, model] = process.argv.slice(2) as [string, string];
const sent = openSync(join(folder, 'sent'), 'a');

/** Host with schedules and the shipped plugins of agents, until this process is killed; what a channel is sent is one line on disk. */
const anna = {
  id: 3,
  role: 'user',
  status: 'active',
  grants: ['schedule:*', 'channel:*', 'device:*', 'skill:*'],
  display_name: 'anna',
  email: 'anna@example.org',
};
const kit = await skillHouse(
  { after: () => undefined },
  {
    dataDir: join(folder, 'data'),
    plugins: ['gate', 'approval', 'skill', 'setting', 'model', 'chat', 'schedules'],
    services: {
      'persona.directory': directory(persona({ name: 'sre' })),
      'iam.directory': {
        live: (id: number) => (id === anna.id ? anna : undefined),
        nameOf: async () => anna,
      },
      'notify.dispatcher': {
        unknown: async () => [],
        say: async ({ id, lines }: Words) => {
          appendFileSync(sent, `${JSON.stringify([id, lines])}\n`);
          fsyncSync(sent);
        },
      },
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: model,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
    },
  },
);
kit.people.anna.grants = anna.grants;
writeSync(1, `${kit.house.url}\n`);
