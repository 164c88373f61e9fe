import { serveThread } from 'svc/thread';

import { openRuleFiles } from './rule-thread/open-rule-files.ts';

/** The thread of this plugin: reads rule files and rule tests, as YAML takes a second a megabyte. */
serveThread(openRuleFiles);
