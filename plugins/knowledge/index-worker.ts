import { serveThread } from 'svc/thread';

import { openIndex } from './search/open-index.ts';

serveThread(openIndex);
