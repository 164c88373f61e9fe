import { serveThread } from 'svc/thread';

import { openMetrics } from './open-metrics.ts';

serveThread(openMetrics);
