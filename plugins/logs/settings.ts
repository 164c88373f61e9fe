import type { Settings } from 'svc/sdk';
import { parseDuration } from 'svc/query';

import type { ThreadSettings } from './thread/contract.ts';

const longestQueryMs = 5 * 60_000;

/** Each watched key changes what the thread does. */
export const threadKeys = [
  'logs.retention_age',
  'logs.retention_bytes',
  'logs.max_streams',
  'logs.sender_share',
  'logs.max_label_names',
  'logs.max_line_bytes',
  'logs.reject_older_than',
  'logs.query_timeout',
  'logs.query_cpu',
  'logs.max_query_bytes',
];

export const threadSettings = (settings: Settings): ThreadSettings => ({
  limits: {
    activeStreams: settings.get<number>('logs.max_streams'),
    senderShare: settings.get<number>('logs.sender_share'),
    labelNames: settings.get<number>('logs.max_label_names'),
    lineBytes: settings.get<number>('logs.max_line_bytes'),
    olderMs: parseDuration(settings.get<string>('logs.reject_older_than')),
  },
  retention: {
    maxAgeMs: parseDuration(settings.get<string>('logs.retention_age')),
    maxBytes: settings.get<number>('logs.retention_bytes'),
  },
  query: {
    timeoutMs: Math.min(longestQueryMs, parseDuration(settings.get<string>('logs.query_timeout'))),
    cpuMs: parseDuration(settings.get<string>('logs.query_cpu')),
    maxBytes: settings.get<number>('logs.max_query_bytes'),
  },
});
