import { endingService } from 'svc/store';
import { serveThread } from 'svc/thread';

import { openMetrics } from './open-metrics.ts';

serveThread(async (setup) => endingService(await openMetrics(setup)));
