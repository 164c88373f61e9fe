import { rmSync } from 'node:fs';

import { type Command, Failure } from 'svc/cli';
import { edgeEnvironment } from '../data-dir.ts';
import { serviceName } from '../unit.ts';
import { uninstallService, whyNoService } from '../../serve/service/systemd.ts';

export const command: Command = {
  operands: [],
  options: {
    purge: { about: 'also remove the data folder, including the keys and any unsent data' },
  },
  about:
    'Stops and removes the service. The edge remains on the manager until you delete it there.',
  example: 'svc edge uninstall --purge',

  async run(call) {
    const obstacle = whyNoService();
    const purge = call.has('purge');
    if (obstacle !== undefined && !purge) {
      throw new Failure(
        1,
        'conflict',
        `there is no service to remove, because ${obstacle}; stop the agent where you started it`,
      );
    }
    const removed = obstacle === undefined && uninstallService(serviceName);
    const dataDir = edgeEnvironment(call.environment).SVC_DATA_DIR;
    if (purge) {
      rmSync(dataDir, { recursive: true, force: true });
    }
    return {
      data: { removed, purged: purge },
      text: () =>
        `${removed ? 'The service was removed' : 'No service was found'}; ${dataDir} was ${purge ? 'removed' : 'kept'}`,
    };
  },
};
