import { serveThread } from 'svc/thread';

import { openSearch } from './search/searcher.ts';

serveThread(openSearch);
