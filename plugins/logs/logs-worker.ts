import { endingService } from 'svc/store';
import { serveThread } from 'svc/thread';

import { openLogs } from './open-logs.ts';

serveThread(async (setup) => endingService(await openLogs(setup)));
