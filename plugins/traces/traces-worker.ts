import { serveThread } from 'svc/thread';

import { openTraces } from './open-traces.ts';

serveThread(openTraces);
