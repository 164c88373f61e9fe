import { serveThread } from 'svc/thread';

import { openLogs } from './open-logs.ts';

serveThread(openLogs);
