import { rmSync } from 'node:fs';

import { type Command, Failure } from 'svc/cli';
import { backupUnits, serviceName } from '../serve/unit.ts';
import { uninstallService, whyNoService } from '../serve/service/systemd.ts';

export const command: Command = {
  operands: [],
  options: {
    purge: {
      about: 'also remove the data folder, including all data and backups in it',
    },
  },
  about: 'Stops the service and removes its units. The data stays unless --purge is given.',
  example: 'svc uninstall',

  async run(call) {
    const obstacle = whyNoService();
    if (obstacle !== undefined) {
      throw new Failure(1, 'conflict', `there is no service to remove, because ${obstacle}`);
    }
    const removed = uninstallService(serviceName, backupUnits);
    const dataDir = call.environment['SVC_DATA_DIR'] ?? '/var/lib/svc';
    const purged = call.has('purge');
    if (purged) {
      rmSync(dataDir, { recursive: true, force: true });
    }
    return {
      data: { removed, purged },
      text: () =>
        `${removed ? 'The service was removed' : 'No service was found'}; ${dataDir} was ${purged ? 'removed' : 'kept'}`,
    };
  },
};
