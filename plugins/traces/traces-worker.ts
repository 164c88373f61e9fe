import { endingService } from 'svc/store';
import { serveThread } from 'svc/thread';

import { openTraces } from './open-traces.ts';

serveThread(async (setup) => endingService(await openTraces(setup)));
