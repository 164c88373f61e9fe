import { writeSync } from 'node:fs';

import { imHouse } from '../plugins/imbridge/office.ts';

const [model] = process.argv.slice(2) as [string];

/** Host with the shipped plugins of chat platforms, whose load the bench queries. */
const { house } = await imHouse(
  { after: () => undefined },
  { model, environment: { SVC_IM_MOST_WAITING: '1000000' } },
);
writeSync(1, `${house.url}\n`);
process.on('message', () =>
  process.send!({ rss: process.memoryUsage().rss, cpu: process.cpuUsage() }),
);
