import { writeSync } from 'node:fs';

import { knowledgeHouse } from '../plugins/knowledge/house.ts';

const [dataDir, authorities] = process.argv.slice(2) as [string, string];

/** Host that reads repositories until it is killed. */
const { house } = await knowledgeHouse(
  { after: () => undefined },
  {
    plugins: ['programs', 'knowledge'],
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8,::1',
      SVC_KNOWLEDGE_GIT_AUTHORITIES: authorities,
    },
    dataDir,
  },
);
writeSync(1, `${JSON.stringify({ url: house.url, token: house.token })}\n`);
