import { defineService } from 'svc/sdk';

import type { LogQueries } from '../logs/contract.ts';
import type { MetricsQueries } from '../metricsdb/contract.ts';
import type { NoticeDispatcher } from '../notify/contract.ts';

/** Services of other areas, by their ids: their folders may be taken away, and only types may be wanted of them. */
export const Metrics = defineService<MetricsQueries>('metrics.queries');
export const Logs = defineService<LogQueries>('logs.queries');
export const Channels = defineService<NoticeDispatcher>('notify.dispatcher');
